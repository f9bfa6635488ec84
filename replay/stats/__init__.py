"""Statistics of repeated trials: numbers in, numbers out.

`successes` counts the passed trials of each task, `trials` how many it had. pass^k is the chance that k
trials all pass, pass@k the chance that at least one does; both are averaged over tasks.
"""

from .anova import Clustering, clustering, independent_power
from .bootstrap import TaskBootstrap, task_bootstrap
from .clustered import ClusteredDifference, clustered_difference, clustered_interval, holm
from .corrections import Corrected, corrected_by_labels, corrected_pass_hat_k, labels_needed, ppi, rogan_gladen
from .estimators import pass_at_k, pass_hat_k
from .extrapolation import Extrapolation, bounds_from_pass_1, clean_trials, extrapolate
from .gates import (
    Decision,
    Feasibility,
    feasibility,
    feasibility_of_difference,
    gate,
    gate_difference,
    gate_difference_sequential,
    gate_sequential,
    tasks_if_alike,
)
from .intervals import Interval, interval
from .judges import JudgeQuality, Share, f1, judge_quality, kappa_interval, kappa_of_table, proportion
from .mcnemar import McNemar, clustered_mcnemar
from .nested import (
    Components,
    Components3,
    NoiseShare,
    NoiseShares,
    components_nested,
    components_nested3,
    half_width_without,
    noise_shares,
    outside_share,
)
from .overview import Summary, SummaryRow, summary
from .paired import FixedDifference, Paired, PairedRow, fixed_differences, paired_differences
from .planning import (
    chance_within_margin,
    power_of_comparison,
    score_variance,
    shifted,
    tasks_needed,
    trials_for_margin,
)
from .rewards import MeanReward, mean_reward
from .sequential import gate_evalues, tasks_to_decide
from .tally import Cell, Tally
from .trends import Trend, TrendPoint, trend
from .unpaired import UnpairedDifference, unpaired_difference
from .watchlists import Watchlist, WatchTest, watch_test, watchlist
from .within import WithinModel, within_se
from .worlds import WorldRow, WorldSummary, pass_hat_k_across, pass_hat_k_within, world_summary

__all__ = [
    "Cell",
    "ClusteredDifference",
    "Clustering",
    "Components",
    "Components3",
    "Corrected",
    "Decision",
    "Extrapolation",
    "Feasibility",
    "FixedDifference",
    "Interval",
    "JudgeQuality",
    "McNemar",
    "MeanReward",
    "NoiseShare",
    "NoiseShares",
    "Paired",
    "PairedRow",
    "Share",
    "Summary",
    "SummaryRow",
    "Tally",
    "TaskBootstrap",
    "Trend",
    "TrendPoint",
    "UnpairedDifference",
    "WatchTest",
    "Watchlist",
    "WithinModel",
    "WorldRow",
    "WorldSummary",
    "bounds_from_pass_1",
    "chance_within_margin",
    "clean_trials",
    "clustered_difference",
    "clustered_interval",
    "clustered_mcnemar",
    "clustering",
    "components_nested",
    "components_nested3",
    "corrected_by_labels",
    "corrected_pass_hat_k",
    "extrapolate",
    "f1",
    "feasibility",
    "feasibility_of_difference",
    "fixed_differences",
    "gate",
    "gate_difference",
    "gate_difference_sequential",
    "gate_evalues",
    "gate_sequential",
    "half_width_without",
    "holm",
    "independent_power",
    "interval",
    "judge_quality",
    "kappa_interval",
    "kappa_of_table",
    "labels_needed",
    "mean_reward",
    "noise_shares",
    "outside_share",
    "paired_differences",
    "pass_at_k",
    "pass_hat_k",
    "pass_hat_k_across",
    "pass_hat_k_within",
    "power_of_comparison",
    "ppi",
    "proportion",
    "rogan_gladen",
    "score_variance",
    "shifted",
    "summary",
    "task_bootstrap",
    "tasks_if_alike",
    "tasks_needed",
    "tasks_to_decide",
    "trend",
    "trials_for_margin",
    "unpaired_difference",
    "watch_test",
    "watchlist",
    "within_se",
    "world_summary",
]

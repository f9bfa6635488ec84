"""Statistics of repeated trials: numbers in, numbers out.

`successes` counts the passed trials of each task, `trials` how many it had. pass^k is the chance that k
trials all pass, pass@k the chance that at least one does; both are averaged over tasks.
"""

from .anova import Clustering, clustering, independent_power
from .bootstrap import TaskBootstrap, task_bootstrap
from .estimators import pass_at_k, pass_hat_k
from .intervals import Interval, interval
from .overview import Summary, SummaryRow, summary
from .tally import Cell, Tally
from .within import within_se

__all__ = [
    "Cell",
    "Clustering",
    "Interval",
    "Summary",
    "SummaryRow",
    "Tally",
    "TaskBootstrap",
    "clustering",
    "independent_power",
    "interval",
    "pass_at_k",
    "pass_hat_k",
    "summary",
    "task_bootstrap",
    "within_se",
]

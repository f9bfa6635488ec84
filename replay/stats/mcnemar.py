"""Two verdicts on the same trials: do they disagree more in one direction?"""

import numpy as np
from attrs import frozen
from scipy.special import chdtrc

from .tally import Counts, is_whole
from .told import Told


@frozen
class McNemar(Told):
    """McNemar's test with tasks as clusters.

    Attributes:
        only_first: trials that the first verdict alone passed.
        only_second: trials that the second verdict alone passed.
        clusters: tasks in which the two differ.
        statistic: chi-square with 1 degree of freedom, at least 0; None if no task leans either way.
        p: two-sided, 0 to 1; 1 where the statistic is None.
    """

    only_first: int
    only_second: int
    clusters: int
    statistic: float | None
    p: float


def clustered_mcnemar(only_first: Counts, only_second: Counts, trials: Counts) -> McNemar:
    """Test whether two verdicts on the same trials pass equally often, when trials come in tasks.

    X^2 = (sum of (b_i - c_i) / n_i)^2 / sum of ((b_i - c_i) / n_i)^2, with b_i and c_i the trials of task i that only
    the first or only the second passed. Durkalski, Palesch, Lipsitz, Rust 2003 (Statistics in Medicine 22). McNemar's
    own test takes all trials as independent, and so finds differences that are one task's.

    Args:
        only_first: trials that only the first passed, one int per task.
        only_second: trials that only the second passed.
        trials: trials with both verdicts, at least 1 for each task.

    Raises:
        ValueError: no tasks; different lengths; no whole numbers; more differences than trials.
    """
    rows = list(zip(only_first, only_second, trials, strict=True))
    if not rows:
        raise ValueError("there are no tasks")
    for index, row in enumerate(rows):
        if not all(is_whole(number) and number >= 0 for number in row) or not 1 <= row[2] >= row[0] + row[1]:
            raise ValueError(f"task {index}: {row[0]} and {row[1]} one-sided trials of {row[2]} are impossible")
    counts = np.array(rows, dtype=np.float64)
    leans = (counts[:, 0] - counts[:, 1]) / counts[:, 2]
    spread = float((leans**2).sum())
    statistic = None if spread == 0 else float(leans.sum() ** 2 / spread)
    return McNemar(
        only_first=int(counts[:, 0].sum()),
        only_second=int(counts[:, 1].sum()),
        clusters=int((counts[:, 0] + counts[:, 1] > 0).sum()),
        statistic=statistic,
        p=1.0 if statistic is None else float(chdtrc(1, statistic)),
    )

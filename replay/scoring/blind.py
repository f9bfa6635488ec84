"""What each scorer cannot see: it is told on every report, so that a number is not taken for more than it is."""

from __future__ import annotations

from typing import Final

from .attacks import attack_success
from .checks import final_state, forbidden_tools, required_outputs, task_checks
from .consent import consent_before_write
from .limits import not_capped
from .outputs import tau_outputs
from .score import Scorer
from .states import exact_state
from .tools import expected_actions

__all__ = ["BLIND_TO", "OWN"]

OWN: Final[dict[str, Scorer]] = {
    own.name: own
    for own in (
        task_checks,
        final_state,
        exact_state,
        required_outputs,
        tau_outputs,
        forbidden_tools,
        expected_actions,
        consent_before_write,
        not_capped,
        attack_success,
    )
}
"""The scorers that need no setting, by name."""

BLIND_TO: Final[dict[str, tuple[str, ...]]] = {
    **{name: own.blind_to for name, own in OWN.items()},
    "reward@taubench": (
        "the way to the state (calls, order, consent)",
        "the state where the task has outputs",  # the files then store the outputs' part only
        "whether what was said is true",
        "faults of the simulated user",
    ),
}
"""By name of the score; of one that others may give the same name, with its version."""

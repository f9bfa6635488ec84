"""The public face: ``import trialtape as tt``.

Names are loaded when first used (PEP 562), so that importing this module imports nothing else of the project.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.functions import tool
    from cassettes.errors import (
        BadInput,
        BudgetReached,
        CassetteError,
        Divergence,
        NothingCaptured,
        Refused,
        TrialtapeError,
        Unanswered,
        UnkeepableValue,
        UnknownTool,
    )
    from cassettes.model import TrialId
    from replay import scoring, stats
    from replay.actors import acting_as
    from replay.block import trial
    from replay.breaking import Breakpoint, break_at
    from replay.given_policy import GivenPolicy as Policy
    from replay.injecting import Injection
    from replay.labelling.fault_judge import fault_judge
    from replay.opening import open_view as open  # noqa: A004  # the public name
    from replay.orchestration.dialogue import Act, Dialogue, Heard, Request, Result
    from replay.orchestration.simulated import simulated
    from replay.orchestration.suite import Price, Suite
    from replay.orchestration.task_files import read_tasks
    from replay.orchestration.tasks import Task, attacked
    from replay.orchestration.users import scripted
    from replay.production import session
    from replay.reruns.environments import Environment
    from replay.retrial import Retrial, retrial
    from replay.scoring import Score, scorer
    from replay.scoring.judge import judge
    from replay.trial import Trial
    from replay.view import Step, View

__all__ = [
    "Act",
    "BadInput",
    "Breakpoint",
    "BudgetReached",
    "CassetteError",
    "Dialogue",
    "Divergence",
    "Environment",
    "Heard",
    "Injection",
    "NothingCaptured",
    "Policy",
    "Price",
    "Refused",
    "Request",
    "Result",
    "Retrial",
    "Score",
    "Step",
    "Suite",
    "Task",
    "Trial",
    "TrialId",
    "TrialtapeError",
    "Unanswered",
    "UnkeepableValue",
    "UnknownTool",
    "View",
    "acting_as",
    "attacked",
    "break_at",
    "fault_judge",
    "judge",
    "open",
    "read_tasks",
    "retrial",
    "scorer",
    "scoring",
    "scripted",
    "session",
    "simulated",
    "stats",
    "tool",
    "trial",
]

_MODULE_OF = {
    "Act": "replay.orchestration.dialogue",
    "BadInput": "cassettes.errors",
    "Breakpoint": "replay.breaking",
    "BudgetReached": "cassettes.errors",
    "CassetteError": "cassettes.errors",
    "Dialogue": "replay.orchestration.dialogue",
    "Divergence": "cassettes.errors",
    "Environment": "replay.reruns.environments",
    "Heard": "replay.orchestration.dialogue",
    "Injection": "replay.injecting",
    "NothingCaptured": "cassettes.errors",
    "Policy": "replay.given_policy:GivenPolicy",
    "Price": "replay.orchestration.suite",
    "Refused": "cassettes.errors",
    "Request": "replay.orchestration.dialogue",
    "Result": "replay.orchestration.dialogue",
    "Retrial": "replay.retrial",
    "Score": "replay.scoring",
    "Step": "replay.view",
    "Suite": "replay.orchestration.suite",
    "Task": "replay.orchestration.tasks",
    "Trial": "replay.trial",
    "TrialId": "cassettes.model",
    "TrialtapeError": "cassettes.errors",
    "Unanswered": "cassettes.errors",
    "UnkeepableValue": "cassettes.errors",
    "UnknownTool": "cassettes.errors",
    "View": "replay.view",
    "acting_as": "replay.actors",
    "attacked": "replay.orchestration.tasks",
    "break_at": "replay.breaking",
    "fault_judge": "replay.labelling.fault_judge",
    "judge": "replay.scoring.judge",
    "open": "replay.opening:open_view",
    "read_tasks": "replay.orchestration.task_files",
    "retrial": "replay.retrial",
    "scorer": "replay.scoring",
    "scoring": "replay.scoring:",
    "scripted": "replay.orchestration.users",
    "session": "replay.production",
    "simulated": "replay.orchestration.simulated",
    "stats": "replay.stats:",
    "tool": "adapters.functions",
    "trial": "replay.block",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("trialtape")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'trialtape' has no attribute {name!r}")
    module_name, colon, other = _MODULE_OF[name].partition(":")
    module = import_module(module_name)
    found = module if colon and not other else getattr(module, other or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def _check_origin() -> None:
    """Other distributions install packages named ``adapters`` and ``replay`` too: say so instead of failing oddly."""
    here = Path(__file__).resolve().parent
    for name in ("cassettes", "adapters", "replay"):
        spec = find_spec(name)
        found = None if spec is None or spec.origin is None else Path(spec.origin).resolve().parent
        if found != here / name:
            raise ImportError(
                f"trialtape needs its own package {name!r} in {here}, but Python finds "
                f"{found or 'none'}: a folder or another distribution of that name comes first on sys.path. "
                "Rename that folder, or install the other distribution elsewhere, then reinstall trialtape."
            )


_check_origin()

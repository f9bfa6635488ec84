"""``trialtape run --ab``: two arms side by side, compared, and held to each other if a margin is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from attrs import asdict, frozen

from cassettes.errors import BadInput
from cassettes.model import Ending, TrialId
from replay.analysis.gating import GateLine, gate_against, overall
from replay.analysis.outcomes import refuse_harm
from replay.analysis.run_compare import RunComparison
from replay.home import Home
from replay.orchestration.ab_run import compare_arms, jobs_of, refuse_impossible_ks, run_arms
from replay.orchestration.arms import Arm
from replay.orchestration.progress import RunResult
from replay.orchestration.run_terms import RunTerms
from replay.orchestration.running import Job
from replay.orchestration.sequential_run import Design, Looks, refuse_impossible_design
from replay.orchestration.suite import Suite
from replay.report.arms_text import alike_line, arms_verdict, evidence_line, looks_notes, looks_table, not_side_by_side
from replay.stats.intervals import Target

from .compare_command import print_comparison
from .options import alpha_option, margin_option, undecided_option
from .output import console, echo_json, messages, say
from .run_bar import RunBar
from .run_told import tell_problems, tell_run
from .verdicts import Undecided, exit_code_of, told_verdict

__all__ = ["Held", "carry_out_arms", "held_by", "takes_arms"]

F = TypeVar("F", bound=Callable[..., Any])


def _two_files(_ctx: click.Context, _option: click.Parameter, files: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Both values: where only one is given, click takes the next option for the other."""
    option = next((file for file in files or () if file.startswith("-")), None)
    if option is not None:
        raise click.BadParameter(f"two files are needed, A.toml B.toml, and {option!r} is none; name both arms")
    return files


_OPTIONS = (
    click.option(
        "--ab",
        nargs=2,
        metavar="A.toml B.toml",
        callback=_two_files,
        help="Two arms side by side, each a run; then compared.",
    ),
    margin_option,
    click.option(
        "-k", "ks", type=click.IntRange(min=1), multiple=True, help="With --ab: of pass^k; may be given again."
    ),
    click.option("--sequential", is_flag=True, help="With --margin: go task by task, and stop when it is decided."),
    alpha_option,
    undecided_option,
)


@frozen
class Held:
    """To what the second arm is held, and how that is decided.

    Attributes:
        margin: how much worse it may be than the first; None if they are only compared.
        ks: of pass^k; none given compares all, and holds pass^1.
        sequential: by evidence that is looked at after each task.
        alpha: chance of a wrong verdict.
        undecided: what UNDECIDED counts as.
    """

    margin: float | None
    ks: tuple[int, ...]
    sequential: bool
    alpha: float
    undecided: Undecided | None

    def __attrs_post_init__(self) -> None:
        if self.sequential and self.margin is None:
            raise BadInput("--sequential needs --margin: how much worse than the first arm the second may be")
        if self.undecided is not None and self.margin is None:
            raise BadInput("--undecided needs --margin: without one nothing is decided")


def takes_arms(command: F) -> F:
    """The options that go with ``--ab``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def held_by(options: dict[str, Any]) -> Held:
    """Take the options that go with ``--ab`` out of all.

    Raises:
        BadInput: they do not go together.
    """
    return Held(**{name: options.pop(name) for name in ("margin", "ks", "sequential", "alpha", "undecided")})


def carry_out_arms(
    suite: Suite, files: Sequence[str], terms: RunTerms, home: str | None, held: Held, *, as_json: bool
) -> int:
    """Run both arms, tell what came of them, and return the exit code."""
    place = Home.find(home)
    arms = [Arm.read(file) for file in files]
    jobs = jobs_of(suite, arms, terms)
    if held.margin is not None and jobs[0].scorers:
        refuse_harm(jobs[0].scorers[0].id)
    refuse_impossible_ks(jobs[0].plan, held.ks)
    looks = _looks(place, jobs, terms.seed, held) if held.sequential else None
    with _ArmsBar([arm.run for arm in arms], looks, quiet=as_json) as bar:
        results = run_arms(jobs, home, bar, looks)
    compared = _compared(place, arms, held, looks)
    lines = _lines(compared, held, looks)
    code = exit_code_of(overall(lines), held.undecided) if held.margin is not None else 0
    if held.margin is not None and not lines:
        code = BadInput.exit_code  # what keeps them from being compared was told
    if as_json:
        echo_json(_document(results, compared, looks, lines, code))
    else:
        _tell(results, compared, looks, lines, held)
    problems = [tell_problems(result) for result in results]
    return code or int(any(problems))


class _ArmsBar(RunBar):
    """Over the trials of both arms, with the evidence so far."""

    def __init__(self, names: Sequence[str], looks: Looks | None, *, quiet: bool) -> None:
        super().__init__(" | ".join(names), quiet=quiet)
        self._names = " | ".join(names)
        self._looks = looks

    def finished(self, trial: TrialId, ending: Ending, passed: bool | None) -> None:  # noqa: FBT001  # a verdict
        super().finished(trial, ending, passed)
        if self._looks is not None and self._looks.looks:
            told = evidence_line(self._looks.design, self._looks.looks)
            self.describe(f"{self._names}  {told}")


def _looks(home: Home, jobs: Sequence[Job], seed: int, held: Held) -> Looks:
    first, second = jobs
    if not first.scorers:
        raise BadInput("the suite has no scorer, so nothing can be decided")
    assert held.margin is not None
    ks, plan = held.ks or (1,), first.plan
    if plan.worlds is not None and {*ks} != {1}:
        raise BadInput("trials share recorded worlds, so they are not independent, and only pass^1 is decided: -k 1")
    alike = refuse_impossible_design(len(first.tasks), plan.per_task, held.margin, held.alpha, ks)
    design = Design.drawn(
        first.tasks,
        seed,
        arms=(plan.name, second.plan.name),
        score=first.scorers[0].id,
        margin=held.margin,
        alpha=held.alpha,
        ks=ks,
        trials=plan.per_task,
    )
    looks = Looks(home, design)
    told = alike_line(len(first.tasks), held.margin, alike)
    if told is not None and looks.verdict == "UNDECIDED":
        messages().print(f"trialtape: {told}", markup=False, soft_wrap=True)
    return looks


def _compared(home: Home, arms: Sequence[Arm], held: Held, looks: Looks | None) -> RunComparison | None:
    """The comparison; of a pair that stops by evidence that of the tasks that were looked at."""
    ks = held.ks or ((1,) if held.margin is not None and looks is None else ())
    try:
        return compare_arms(home, arms, ks, None if looks is None else [look.task for look in looks.looks])
    except BadInput as error:
        messages().print(f"trialtape: the arms cannot be compared: {error}", markup=False, soft_wrap=True)
        return None


def _lines(compared: RunComparison | None, held: Held, looks: Looks | None) -> list[GateLine]:
    if looks is not None:
        return looks.lines
    if held.margin is None or compared is None:
        return []
    target: Target = "population" if compared.shared_worlds else "fixed"
    return list(gate_against(compared, held.margin, target, alpha=held.alpha).lines)


def _document(
    results: Sequence[RunResult],
    compared: RunComparison | None,
    looks: Looks | None,
    lines: Sequence[GateLine],
    code: int,
) -> dict[str, Any]:
    return {
        "runs": [{**asdict(result), "home": str(result.home)} for result in results],
        "comparison": None if compared is None else compared.to_dict(),
        "sequential": None if looks is None else looks.to_dict(),
        "verdict": overall(lines) if lines else None,
        "lines": [asdict(line) for line in lines],
        "exit_code": code,
    }


def _tell(
    results: Sequence[RunResult],
    compared: RunComparison | None,
    looks: Looks | None,
    lines: Sequence[GateLine],
    held: Held,
) -> None:
    for result in results:
        tell_run(result, follow_up=False)
    for line in not_side_by_side(results):
        messages().print(line, markup=False, soft_wrap=True)
    out = console()
    if compared is not None:
        print_comparison(compared)
    if looks is not None:
        out.print()
        out.print(looks_table(looks.design, looks.looks))
        for line in looks_notes(looks.design, looks.looks, lines):
            say(out, line)
    if lines:
        out.print()
        for line in arms_verdict(lines):
            say(out, line)
        say(out, told_verdict(overall(lines), held.undecided))

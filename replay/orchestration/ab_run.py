"""Two arms of one suite as two runs, trial beside trial, and in the same recorded worlds if they are frozen."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve

from cassettes.errors import BadInput
from replay.analysis.run_compare import RunComparison, compare_runs
from replay.analysis.run_settings import GIVEN, changed_settings, settings_of
from replay.analysis.task_pairs import definitions_of
from replay.home import Home
from replay.runs import load_run
from replay.store import Store

from .arms import Arm, refuse_shadowed, suite_of_arm, variant_of_arm
from .plan import Plan
from .progress import Progress, RunResult
from .run_terms import RunTerms
from .runner import carry_out_together
from .running import Job
from .sequential_run import Looks
from .suite import Suite

__all__ = ["compare_arms", "jobs_of", "refuse_impossible_ks", "run_arms"]

_BROUGHT_ABOUT: Final = (*GIVEN, "model", "user-model", "other-models", "parameters", "caps", "prompt", "tools")


def jobs_of(suite: Suite, arms: Sequence[Arm], terms: RunTerms) -> list[Job]:
    """The runs of the arms; nothing is run yet.

    Frozen in the same worlds under the same policy, they share what either calls live there.

    Raises:
        BadInput: an arm does not fit the suite or the terms, or both have the same run.
    """
    if len({arm.run for arm in arms}) < len(arms):
        raise BadInput(f"both arms are run {arms[0].run!r}; give each a name of its own: run = ...")
    refuse_shadowed(suite, arms, terms.origin)
    jobs = [suite_of_arm(suite, arm).job(arm.run, _terms_of(arm, terms), variant_of_arm(suite, arm)) for arm in arms]
    first, *others = (job.plan for job in jobs)
    alike = all((plan.policy, plan.given.emulator) == (first.policy, first.given.emulator) for plan in others)
    if first.source is None or not alike:
        return jobs
    names = tuple(job.plan.name for job in jobs)
    return [evolve(job, plan=evolve(job.plan, beside=names)) for job in jobs]


def refuse_impossible_ks(plan: Plan, ks: Sequence[int]) -> None:
    """See that so many trials are planned that pass^k can be compared for each k; beforehand, as trials cost.

    Raises:
        BadInput: it cannot; the message says what would be needed.
    """
    if plan.worlds is not None and plan.trials > 1 and {*ks} - {1}:
        raise BadInput(
            "trials share recorded worlds, so they are not independent, and only pass^1 can be compared: -k 1"
        )
    if ks and max(ks) > plan.per_task:
        more = "--trials" if plan.worlds is None else "--worlds"
        raise BadInput(
            f"k = {max(ks)} needs as many trials of every task, and {plan.per_task} are planned: {more} {max(ks)}"
        )


def run_arms(
    jobs: Sequence[Job], home: str | Path | None, progress: Progress | None, looks: Looks | None = None
) -> list[RunResult]:
    """Carry the runs of the arms out together (see `replay.orchestration.runner.carry_out_together`)."""
    return carry_out_together(jobs, home, progress, looks)


def compare_arms(
    home: Home, arms: Sequence[Arm], ks: Sequence[int] = (), only: Collection[str] | None = None
) -> RunComparison:
    """The second arm's run against the first's: what the arms say, and what it brings about, is meant.

    Args:
        home: where the runs lie.
        arms: two.
        ks: which k are wanted; none means all.
        only: of these tasks alone, if not of all.

    Raises:
        BadInput: the runs cannot be compared.
        CassetteError: a cassette cannot be read.
    """
    names = [arm.run for arm in arms]
    with Store(home) as store:
        store.refresh(names)
        files = [load_run(home, name) for name in names]
        definitions = [definitions_of(store, name) for name in names]
        tasks = {*definitions[0]} & {*definitions[1]}
        first, second = (settings_of(store, file, "", tasks) for file in files)
        meant = {*_BROUGHT_ABOUT, *(("freezing",) if arms[0].policy != arms[1].policy else ())}
        changed = [change.name for change in changed_settings(first, second) if change.name in meant]
        return compare_runs(store, names[0], names[1], ks=ks, changed=changed, only=only)


def _terms_of(arm: Arm, terms: RunTerms) -> RunTerms:
    if arm.policy is None:
        return terms
    if terms.policy is not None:
        raise BadInput(f"{arm.file} names a policy, and so does --policy; name it in one place only")
    return evolve(terms, policy=arm.policy)

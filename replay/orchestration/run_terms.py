"""Under which terms a run is made: how many trials, how fast, for how much, and what of the outside is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from cassettes.given import GivenRule
from replay.effects import Effects
from replay.given_policy import GivenPolicy, settled
from replay.prices import Price, PriceList
from replay.processes.commands import Command
from replay.readings import ambient_kinds

from .dialogue import Dialogue
from .plan import Plan
from .variant import Variant

__all__ = ["RunTerms"]


@frozen(kw_only=True)
class RunTerms:
    """What `replay.orchestration.suite.Suite.run` is asked for, which tells what each means."""

    trials: int
    concurrency: int = 1
    timeout: float | None = None
    retries: int = 2
    max_cost: float | None = None
    freeze: str | Iterable[str] | None = None
    source: str | None = None
    worlds: int | None = None
    user_seeds: int | None = None
    on_miss: str | Iterable[str] | None = None
    offline: bool = False
    catch_up: str | Iterable[str] = ()
    ignore: str | Iterable[str] = ()
    ignore_fields: str | Iterable[str] = ()
    ambient: str | Iterable[str] = ()
    effects: str | Path | Effects | None = None
    policy: str | Path | GivenPolicy | None = None
    emulator: str | None = None
    seed: int = 0
    origin: str | None = None

    def plan(
        self,
        name: str,
        agent: Callable[[Any], Any],
        redact: tuple[GivenRule, ...],
        variant: Variant,
    ) -> Plan:
        """The plan of the run ``name``.

        Raises:
            BadInput: the terms do not go together.
        """
        given = self._policy
        return Plan(
            name=name,
            trials=self.trials,
            concurrency=self.concurrency,
            timeout=self.timeout,
            retries=self.retries,
            max_cost=self.max_cost,
            source=self.source,
            seed=self.seed,
            origin=self.origin,
            given=given,
            redact=redact,
            ambient=ambient_kinds(self.ambient),
            policy_told=given.told if self.policy is not None else {},
            worlds=self.worlds,
            user_seeds=self.user_seeds,
            command=agent.words if isinstance(agent, Command) else (),
            settings=agent.settings if isinstance(agent, Dialogue) else {},
            variant=variant,
        )

    def prices(self, own: Mapping[str, Price]) -> Mapping[str, Price]:
        """By which prices costs are told: a suite's ``own`` and the table's, if anything asks for them."""
        return PriceList(own) if own or self.max_cost is not None else {}

    @property
    def _policy(self) -> GivenPolicy:
        options = GivenPolicy(
            freeze=() if self.freeze is None else self.freeze,
            on_miss=self.on_miss,
            offline=self.offline,
            catch_up=self.catch_up,
            ignore=self.ignore,
            ignore_fields=self.ignore_fields,
            effects=self.effects,
            emulator=self.emulator,
        )
        return settled(self.policy, options)

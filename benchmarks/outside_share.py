"""The outside's share of the demo's noise: as the nested design tells it, beside the true one."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import openai
from attrs import evolve, field, frozen

import trialtape as tt
from examples.support.agent import TEMPERATURE
from examples.support.policy import CUSTOMER
from examples.support.provider import Provider
from examples.support.server import serving
from examples.support.shop import Shop
from examples.support.suite import USER_MODEL, dialogue, suite, tools
from examples.support.tasks import TASKS
from replay.analysis.noise import Noise, noise_of
from replay.analysis.run_stats import Coverage, run_stats
from replay.home import Home
from replay.scoring import task_checks
from replay.store import Store

from .rows import Row, Target

__all__ = ["Measured", "measured", "rows", "true_share"]

OUTSIDE = ("shipping_quote", "stock_check")
SOLD_OUT = 0.4  # of all products, as Shop.stock_check draws
CHEAPEST, DEAREST, LIMIT = 0.7, 1.4, 9.0  # a quote is its base times so much; a plan turns on whether it is above 9.00


@frozen
class Measured:
    """What the runs told.

    Attributes:
        noise: of trials frozen in recorded worlds.
        coverage: how their frozen calls were answered.
    """

    noise: Noise
    coverage: Coverage


def measured(*, worlds: int = 4, trials: int = 6, drift: bool = True, seed: int = 11, jobs: int = 2) -> Measured:
    """Record the demo with as many trials as worlds, freeze the outside in each of them, and split the noise."""
    with serving(seed=seed) as server, _surroundings(server.base_url, drift=drift), TemporaryDirectory() as folder:
        suite.run("live", trials=worlds, concurrency=jobs, home=folder)
        frozen_outside = {"freeze": "external", "source": "live", "worlds": worlds}
        suite.run("frozen", trials=trials, concurrency=jobs, home=folder, **frozen_outside)
        with Store(Home(Path(folder))) as store:
            store.refresh(["live", "frozen"])
            coverage = run_stats(store, "frozen").coverage
            assert coverage is not None
            return Measured(noise_of(store, "frozen"), coverage)


def true_share(*, trials: int = 400, seed: int = 1) -> float:
    """The share from the distribution that the demo draws from.

    The outside decides in two ways only: a quote is above 9.00 or not, a product is sold out or not, each with a known
    probability. How often a trial passes in either case is simulated, with the demo's own agent and model, which
    talk without a network.

    Args:
        trials: simulated of each task in each of its cases, about.
        seed: of the model, and of the worlds.
    """
    outside = noise = 0.0
    with _without_network(Provider(seed)) as talk:
        for task in TASKS:
            cells = _simulated(task, trials, seed, talk)
            chances = [(cell.chance, cell.passed / cell.trials, cell.trials) for cell in cells]
            mean = sum(chance * rate for chance, rate, _ in chances)
            noise += mean * (1 - mean)
            if len(chances) > 1:
                (p, a, n), (_, b, m) = chances
                sampling = a * (1 - a) / (n - 1) + b * (1 - b) / (m - 1)
                outside += p * (1 - p) * ((a - b) ** 2 - sampling)
    return outside / noise


def rows(worlds: int = 4, trials: int = 6, simulated: int = 400) -> list[Row]:
    """Both, and how far the true share lies outside the interval."""
    true = true_share(trials=simulated)
    found, still = measured(worlds=worlds, trials=trials), measured(worlds=worlds, trials=trials, drift=False)
    calls = sum(found.coverage.verdicts.values())
    exact = sum(found.coverage.verdicts.get(name, 0) for name in ("own", "borrowed", "repeated"))
    design = f"{len(TASKS)} tasks, {worlds} worlds x {trials} trials of each"
    return [
        Row("outside share of the demo's noise, at least", _percent(found.noise.share.estimate), "%", note=design),
        Row("the true one, from the distribution that the demo draws from", 100 * true, "%"),
        Row(
            f"points between it and the 95% interval {_interval(found)}",
            _beyond(found, true),
            "points",
            target=Target("<=", 0),
            note=design,
        ),
        Row(
            f"points between 0 and the 95% interval {_interval(still)} with SHOP_DRIFT=0",
            _beyond(still, 0.0),
            "points",
            target=Target("<=", 0),
            note=design,
        ),
        Row("frozen outside calls with an exact answer", 100 * exact / calls, "%", note=f"{calls} calls; {design}"),
    ]


def _percent(share: float | None) -> float:
    return 0.0 if share is None else 100 * share


def _interval(found: Measured) -> str:
    share = found.noise.share
    return f"[{_percent(share.low):.0f}%, {_percent(share.high):.0f}%]"


def _beyond(found: Measured, share: float) -> float:
    """How many points the share lies outside of the interval; 0 inside."""
    told = found.noise.share
    low, high = told.low or 0.0, told.high or 0.0
    return 100 * max(0.0, low - share, share - high)


@contextmanager
def _surroundings(base_url: str, *, drift: bool) -> Iterator[None]:
    values = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "sk-any", "SHOP_DRIFT": "1" if drift else "0"}
    with patch.dict(os.environ, values):
        yield


# -- simulated trials --------------------------------------------------------------------------------------------------


@frozen(slots=False)
class _Cell:
    """Simulated trials of one task in one case of the outside, which comes with this chance."""

    chance: float
    tally: list[int] = field(factory=lambda: [0, 0])

    @property
    def passed(self) -> int:
        return self.tally[0]

    @property
    def trials(self) -> int:
        return self.tally[1]


def _simulated(task: Any, trials: int, seed: int, talk: tt.Dialogue) -> list[_Cell]:
    """The cells of a task: one if it asks nothing of the outside, else its two cases."""
    draws = random.Random(f"{seed}/{task.id}")
    asked: set[tuple[str, str]] = set()
    outcomes: list[tuple[int, bool]] = []
    cells: list[_Cell] = []
    while not cells or min(cell.trials for cell in cells) < trials:
        for _ in range(max(10, trials // 2)):
            world = 2 * draws.getrandbits(30)  # of even seeds the demo's agent asks without streaming
            outcomes.append((world, _passes(task, world, talk, asked)))
        cells = _cells(outcomes, asked)
    return cells


def _cells(outcomes: list[tuple[int, bool]], asked: set[tuple[str, str]]) -> list[_Cell]:
    if not asked:
        return [_Cell(1.0, [sum(passed for _, passed in outcomes), len(outcomes)])]
    ((tool, argument),) = asked  # a task asks one thing of the outside at most
    chance = _chance(tool, argument)
    cells = {True: _Cell(chance), False: _Cell(1 - chance)}
    for world, passed in outcomes:
        cell = cells[_decides(tool, argument, world)]
        cell.tally[0] += passed
        cell.tally[1] += 1
    return [cell for cell in cells.values() if cell.chance > 0]  # some quotes are never above the limit


def _chance(tool: str, argument: str) -> float:
    """How likely the outside is to be dear, or sold out."""
    if tool == "stock_check":
        return SOLD_OUT
    base = 5.40 + sum(map(int, argument)) % 4
    return min(1.0, max(0.0, (DEAREST - LIMIT / base) / (DEAREST - CHEAPEST)))


def _decides(tool: str, argument: str, world: int) -> bool:
    shop = Shop({"products": {argument: {}}}, seed=world)
    if tool == "stock_check":
        return bool(shop.stock_check(argument)["available"] == 0)
    return bool(shop.shipping_quote(argument)["price"] > LIMIT)


@frozen
class _Trial:
    """As much of a trial as the demo's dialogue uses; it keeps what the agent said, and which tools it called."""

    task: Any
    state: Any
    seed: int
    settings: dict[str, Any] = field(factory=dict)
    said: list[str] = field(factory=list)
    called: list[str] = field(factory=list)

    def message(self, role: str, content: str) -> None:
        if role == "assistant":
            self.said.append(content)

    def completed(self, reason: str) -> None:
        """Nothing: a capped trial is checked here like any other."""

    capped = completed


def _passes(task: Any, world: int, talk: tt.Dialogue, asked: set[tuple[str, str]]) -> bool:
    """Whether the demo's agent passes the task in this world."""
    trial: Any = _Trial(task, task.state(), world)

    def noting(name: str, tool: Any) -> Any:
        def called(**arguments: Any) -> Any:
            trial.called.append(name)
            if name in OUTSIDE:
                asked.add((name, next(iter(arguments.values()))))
            return tool(**arguments)

        return called

    evolve(talk, tools=lambda made: {name: noting(name, tool) for name, tool in tools(made).items()})(trial)
    called = enumerate(trial.called)
    steps = [SimpleNamespace(number=n, call=SimpleNamespace(kind="tool", name=name)) for n, name in called]
    view: Any = SimpleNamespace(
        task=task, tracks_state=True, state=lambda: trial.state, agent_messages=trial.said, steps=steps
    )
    return task_checks(view).passed is True


@contextmanager
def _without_network(provider: Provider) -> Iterator[tt.Dialogue]:
    """The demo's dialogue, in which both sides talk to the provider in this process."""

    def create(**body: Any) -> Any:
        answer = provider.answer(body)
        calls = [
            SimpleNamespace(
                id=identity,
                type="function",
                function=SimpleNamespace(name=call.name, arguments=json.dumps(call.arguments)),
            )
            for identity, call in answer.calls
        ]
        return SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(content=answer.text, tool_calls=calls))]
        )

    completions = SimpleNamespace(completions=SimpleNamespace(create=create))

    class Client:
        chat = completions

        def __init__(self, **_: Any) -> None:
            pass

        def __enter__(self) -> Client:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    user = tt.simulated(USER_MODEL, CUSTOMER, temperature=TEMPERATURE, client=Client())
    with patch.object(openai, "OpenAI", Client), patch.dict(os.environ, {"SHOP_DRIFT": "1"}):
        yield evolve(dialogue, user=user)

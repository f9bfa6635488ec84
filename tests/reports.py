"""Runs for the tests of reports: every outcome, and recorded text that tries to be more than text."""

from __future__ import annotations

from typing import Any

from cassettes.model import Ending, Error, Interaction, Mark, Origin, Patch, Reply, ToolRequest, TrialId, Usage, Value
from cassettes.reader import Cassette
from cassettes.values import pack
from replay.home import Home
from replay.runs import RunFile, open_run
from replay.scores.scorefile import KeptScore, append_scores
from replay.scoring import Score
from tests import factories

HOSTILE = {
    "script": "<script>window.pwned = 1</script>",
    "closing": "</script></style></title></textarea><script>window.pwned = 2</script>",
    "image": '<img src="x" onerror="window.pwned = 3">',
    "svg": '<svg onload="window.pwned = 4"><a xlink:href="javascript:window.pwned=5">x</a></svg>',
    "cdata": "]]> <![CDATA[ <!-- -->  {{ 7 * 7 }} {% raw %} ${7*7}",
    "attribute": "\" onmouseover='window.pwned=6' x=`",
    "override": "abc\u202egnp.exe\u202c \u2066x\u2069 \u200f",
    "long": "x" * 5_000,
    "nul": "nul\x00 bell\x07 escape\x1b[31m",
    "surrogate": "lone \ud800 half",
    "separators": "line\u2028paragraph\u2029end",
}

COMPLETED = Ending("completed")
ENDINGS = {
    "passed": (COMPLETED, True),
    "failed": (COMPLETED, False),
    "capped": (Ending("capped", "30 steps"), None),
    "error": (Ending("error", "boom <b>bold</b>", "agent"), None),
    "unanswered": (Ending("unanswered", "missed: get_order"), None),
    "unscored": (COMPLETED, None),
    "unfinished": (Ending("cancelled", "by hand"), None),
}


def tool(step: int, name: str, effect: Any, arguments: dict[str, Any], came: Any, **options: Any) -> Interaction:
    """A call of a tool."""
    call = factories.call(name=name, effect=effect, arguments=arguments)
    outcome = came if isinstance(came, Error) else Value(came)
    return factories.interaction(step, outcome, call=call, at=float(step), duration=0.25, **options)


def model(step: int, messages: list[Any], text: str | None = None, asks: Any = (), **options: Any) -> Interaction:
    """A call of the agent's model."""
    calls = tuple(ToolRequest(f"call_{step}", name, arguments) for name, arguments in asks)
    reply = Reply(text=text, tool_calls=calls, usage=Usage(input=100 + step, output=10))
    call = factories.model_call(messages)
    return factories.interaction(step, Value({"step": step}), call=call, reply=reply, at=float(step), **options)


def patch(before: Any, after: Any) -> Patch:
    """A change of one row of the tracked state."""
    return Patch(((("orders", "W1"), pack(before), pack(after)),))


def conversation(amount: float = 16.0, origin: Origin | None = None) -> list[Interaction]:
    """A trial in which the agent looks at an order, answered by ``origin``, and refunds ``amount``."""
    system = {"role": "system", "content": "You are the agent of a shop. " + "Be kind. " * 40}
    first = [system, {"role": "user", "content": "My plate is broken."}]
    looked = {"order_id": "W1", "total": 32.0, "items": [{"sku": "PLATE", "price": 16.0}] * 12}
    second = [
        *first,
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": str(looked), "tool_call_id": "call_0"},
    ]
    third = [*second, {"role": "assistant", "content": "Refund?"}, {"role": "user", "content": "Yes, please."}]
    refund = {"order_id": "W1", "amount": amount}
    return [
        model(0, first, asks=[("get_order", '{"order_id": "W1"}')]),
        tool(1, "get_order", "read", {"order_id": "W1"}, looked, **({"origin": origin} if origin else {})),
        model(2, second, "Refund?"),
        model(3, third, asks=[("issue_refund", f'{{"order_id": "W1", "amount": {amount}}}')]),
        tool(4, "issue_refund", "write", refund, "done", patch=patch({"refunded": 0.0}, {"refunded": amount})),
        model(5, [*third, {"role": "assistant", "content": "…"}], "I have refunded it."),
    ]


def hostile() -> list[Interaction]:
    """A trial in which everything that a page shows is hostile."""
    steps = [
        tool(place, f"<i>{name}</i>", "read", {f"<b>{name}</b>": text}, text)
        for place, (name, text) in enumerate(HOSTILE.items())
    ]
    last = len(steps)
    every = " ".join(HOSTILE.values())
    return [
        *steps,
        model(last, [{"role": "system", "content": every}, {"role": "<u>user</u>", "content": every}], every),
        tool(last + 1, "write", "write", {"text": every}, Error(ValueError(every))),
    ]


class Runs:
    """Writes runs below a home folder.

    Args:
        home: where to.
    """

    def __init__(self, home: Home) -> None:
        self.home = home

    def make(self, name: str, trials: dict[str, list[Any]], **file: Any) -> str:
        """A run of these trials: a name of `ENDINGS` each, or that with its steps."""
        config = file.pop("config", {})
        about = {"created": "2026-01-02T03:04:05+00:00", "suite": "shop/suite.py", **file.pop("about", {})}
        open_run(self.home, RunFile(name, config=config, about=about, primary="s@1", **file))
        for task, given in trials.items():
            for index, item in enumerate(given):
                told, steps = item if isinstance(item, tuple) else (item, conversation())
                self.trial(TrialId(name, task, index), told, steps)
        return name

    def fork(self, parent: str, at: int, *told: str) -> str:
        """Continuations of a trial from one step: a name of `ENDINGS` each."""
        identity = TrialId.parse(parent)
        fork = {"parent": parent, "digest": Cassette(self.home.cassette(identity)).digest, "at": at, "agent": "one"}
        return self.make(f"fork-{at}", {identity.task: list(told)}, config={"mode": "fork", "fork": fork})

    def trial(self, trial: TrialId, told: str, steps: list[Interaction], evidence: Any = None) -> None:
        """One trial with its score."""
        ending, passed = ENDINGS[told]
        path = factories.write_cassette(
            self.home.cassette(trial),
            steps,
            ending,
            marks=[Mark("message", 0.0, {"role": "user", "content": "Bye <b>now</b>.", "step": 99})],
            run=trial.run,
            task=trial.task,
            index=trial.index,
            task_definition={
                "id": trial.task,
                "instruction": f"Task {trial.task} <b>",
                "digests": {"instruction": trial.task, "expected": "1", "state": None},
            },
        )
        if passed is not None:
            shown = (
                {"wrong": [{"path": "orders.W1", "expected": 1, "found": "<b>2</b>"}]} if evidence is None else evidence
            )
            score = Score(float(passed), evidence={} if passed else shown)
            append_scores(self.home, trial.run, [KeptScore.of(trial, "s", "1", score, Cassette(path).digest)])

"""A run's card, and its groups, drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from replay.analysis.card import Card
from replay.analysis.groups import Groups
from replay.plural import number
from replay.stats import Interval, bounds_from_pass_1

from .stats_text import head, notes

__all__ = ["card_lines", "groups_notes", "groups_table"]

_OFTEN = 8  # times in a row


def card_lines(card: Card) -> Iterator[str]:
    """One page for a decision: the number, then what it rests on."""
    stats = card.stats
    yield from head(stats)
    yield ""
    yield "The number"
    yield from _numbers(card)
    yield ""
    yield "1. How many trials, and which k?"
    sizes = sorted({*stats.counted.trials})
    each = number(sizes[0], "counted trial") if len(sizes) == 1 else f"{_range(sizes)} counted trials"
    whole = number(stats.counted.total, "trial")
    yield f"   {number(len(stats.counted.tasks), 'task')}, {each} each; {whole} in all"
    yield from _one_trial(card)
    yield from (f"   {note}" for note in notes(stats) if "bootstrap" not in note)
    yield ""
    yield "2. Scored how, and who agrees?"
    yield from _scored(card)
    yield ""
    yield "3. How old is it?"
    yield from _age(card)
    yield ""
    yield "4. Was it rerun, on our tasks?"
    yield from _reruns(card)


def groups_table(groups: Groups) -> Table:
    """Each group with its pass^k and intervals."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column(groups.by)
    for heading in ("tasks", "passed"):
        made.add_column(heading, justify="right")
    for k in groups.ks:
        made.add_column(f"pass^{k}", justify="right")
        made.add_column("rerun\n95%", justify="right")
        if groups.by != "task":
            made.add_column("others like these\n95%", justify="right")
    for group in groups.groups:
        cells = []
        for fixed, population in zip(group.fixed, group.population, strict=True):
            cells += [f"{fixed.estimate:.3f}", _ends(fixed), *([_ends(population)] if groups.by != "task" else [])]
        name = "(none)" if group.name is None else group.name
        made.add_row(name, str(len(group.tasks)), f"{group.successes}/{group.trials}", *cells)
    return made


def groups_notes(groups: Groups) -> Iterator[str]:
    """What must be read with the table."""
    if groups.overlapping:
        yield "a task with several tags stands in several groups"
    if len(groups.groups) > 1:
        yield (
            f"of {len(groups.groups)} groups some look extreme by luck alone: about one 95% interval in 20 misses, "
            "and the best and the worst group are the likeliest"
        )
    few = [group.name or "(none)" for group in groups.groups if any(one.few_events for one in group.population)]
    if few and groups.by != "task":
        yield f"few events, so that intervals may cover less than they say: {', '.join(few)}"


def _range(sizes: Sequence[int]) -> str:
    return f"{sizes[0]} to {sizes[-1]}" if sizes else "no"


def _numbers(card: Card) -> Iterator[str]:
    if card.stats.shared is not None:
        yield f"   trials share recorded worlds: `trialtape stats {card.stats.run}` tells pass^k across and within them"
        return
    if card.first is None or card.last is None:
        for k, low, high in card.stats.bounds:
            yield f"   pass^{k} between {low:.3f} (all unanswered failed) and {high:.3f} (all passed)"
        return
    for row in [card.first] if card.first.k == card.last.k else [card.first, card.last]:
        meaning = "one trial passes" if row.k == 1 else f"all of {row.k} trials of a task pass"
        yield f"   pass^{row.k} = {row.pass_hat_k:.3f}   {meaning}"
        yield f"      if you rerun this suite    {_ends(row.fixed)}"
        yield f"      on other tasks like these  {_ends(row.population)}"


def _one_trial(card: Card) -> Iterator[str]:
    """What one trial per task says of repeated use: its ceiling."""
    if card.last is None or card.last.k > 1:
        return
    low, high = bounds_from_pass_1(card.last.pass_hat_k, _OFTEN)
    yield "   some task has one trial only: pass^1 is an optimistic ceiling of every pass^k, and nothing tells more;"
    yield f"   pass^{_OFTEN} lies between {low:.3f} (all tasks alike) and {high:.3f} (each task passes always or never)"


def _scored(card: Card) -> Iterator[str]:
    yield f"   by {card.stats.score}"
    if not card.scores:
        yield "   no other score of these trials: how far another judge would agree is unknown"
    for other in card.scores:
        kappa = "undefined" if other.agreement.kappa is None else f"{other.agreement.kappa:.2f}"
        told = number(other.agreement.n, "trial")
        yield f"   {other.score} agrees on {other.agreement.observed:.0%} of {told}, Cohen's kappa {kappa}"
    trials, authors = card.labelled
    if trials:
        people = "one person" if authors == 1 else f"{authors} people"
        yield f"   {number(trials, 'trial')} labelled by {people}"
    else:
        yield "   no trial was labelled by a person"


def _age(card: Card) -> Iterator[str]:
    days = card.began if card.began == card.ended else f"{card.began} to {card.ended}"
    yield f"   trials of {days}" if card.began else "   the days of the trials are unknown"
    models = "; ".join(f"{actor}: {', '.join(names)}" for actor, names in card.models.items() if names)
    yield f"   models: {models}" if models else "   which models were asked is unknown"
    if card.commit:
        yield f"   commit {card.commit[:10]}"
    told = ", ".join(f"{name} {version}" for name, version in card.packages.items() if name in {"trialtape", "python"})
    if told:
        yield f"   {told}"


def _reruns(card: Card) -> Iterator[str]:
    how = {
        "record": "run here, everything live",
        "freeze": f"run here, given the recorded worlds of {card.source}",
        "import": f"imported from {card.source}: not run here",
    }
    yield f"   {how.get(card.mode, card.mode)}"
    if not card.runs:
        yield "   no other run here has the same tasks"
    for other in card.runs:
        kind = "live" if other.live else "frozen or imported"
        yield (
            f"   {other.run} ({kind}) has {other.tasks} of the same tasks: "
            f"trialtape compare {card.stats.run} {other.run}"
        )


def _ends(interval: Interval) -> str:
    return (
        "undefined" if interval.low is None or interval.high is None else f"[{interval.low:.3f}, {interval.high:.3f}]"
    )

"""What a cassette holds around arguments and outcomes, less what the user's redaction rules find in it.

The rules hold for what was said and done, not for the structure around it: the names of tools and runs, kinds,
verdicts and digests stay as they are, also if a pattern would match them.
"""

from __future__ import annotations

from collections import Counter

from attrs import evolve

from .model import Ending, Header, Interaction, Mark, Patch
from .redact import Redactor

__all__ = ["cleaned_ending", "cleaned_header", "cleaned_interaction", "cleaned_mark"]


def cleaned_interaction(interaction: Interaction, redactor: Redactor, counts: Counter[str]) -> Interaction:
    """The interaction; its arguments and its outcome are another matter."""
    if interaction.injected is not None:
        returned = redactor.outcome(interaction.injected.returned, counts)
        interaction = evolve(interaction, injected=evolve(interaction.injected, returned=returned))
    if not redactor.has_text_rules:
        return interaction
    call = redactor.named(interaction.call, counts)
    call = evolve(call, detail={name: redactor.value(item, counts) for name, item in call.detail.items()})
    reply, patch = interaction.reply, interaction.patch
    if reply is not None:
        tools = tuple(evolve(t, arguments=redactor.value(t.arguments, counts)) for t in reply.tool_calls)
        told = {name: redactor.value(getattr(reply, name), counts) for name in ("text", "refusal", "error")}
        reply = evolve(reply, tool_calls=tools, **told)
    if patch is not None:
        patch = _patch(patch, redactor, counts)
    return evolve(interaction, call=call, reply=reply, patch=patch)


def cleaned_header(header: Header, redactor: Redactor, counts: Counter[str]) -> Header:
    """The header: of it, what the task says, and what the agent was given."""
    if not redactor.has_text_rules:
        return header
    if "settings" in header.config:
        settings = redactor.value(header.config["settings"], counts)
        header = evolve(header, config={**header.config, "settings": settings})
    if header.task_definition is None:
        return header
    kept = {"digests", "id"}
    told = {k: v if k in kept else redactor.value(v, counts) for k, v in header.task_definition.items()}
    return evolve(header, task_definition=told)


def cleaned_mark(mark: Mark, redactor: Redactor, counts: Counter[str]) -> Mark:
    """The mark; of a state it holds the digest only."""
    if not redactor.has_text_rules or mark.kind == "state":
        return mark
    if isinstance(mark.data, Patch):
        return evolve(mark, data=_patch(mark.data, redactor, counts))
    inside = {"message": "content", "unattributed": "names"}.get(mark.kind)
    if inside is not None:
        return evolve(mark, data={**mark.data, inside: redactor.value(mark.data[inside], counts)})
    return evolve(mark, data=redactor.value(mark.data, counts))


def cleaned_ending(ending: Ending, redactor: Redactor, counts: Counter[str]) -> Ending:
    """The ending: of it, the reason."""
    return evolve(ending, reason=redactor.value(ending.reason, counts)) if redactor.has_text_rules else ending


def _patch(patch: Patch, redactor: Redactor, counts: Counter[str]) -> Patch:
    """The patch: its values were cleaned when they were taken from the state, its paths were not."""
    changes = ((tuple(redactor.value(step, counts) for step in path), old, new) for path, old, new in patch.changes)
    return Patch(tuple(changes))

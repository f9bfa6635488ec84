"""Sound in a tau2 message, replaced by a reference: recordings keep what was said, not how it sounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cassettes.canonical import digest_bytes

__all__ = ["without_audio"]

_LONGEST_TEXT: Final = 20_000  # of a message that says it is sound: what is longer is no transcript


def without_audio(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with its sound, if it holds any, as a digest and a size; a path to a file stays as it is."""
    kept = dict(message)
    sound = kept.get("audio_content")
    if isinstance(sound, str) and sound:
        kept["audio_content"] = _reference(sound)
    content = kept.get("content")
    if kept.get("is_audio") is True and isinstance(content, str) and _is_sound(content):
        kept["content"] = kept.get("audio_script_gold")
        kept["audio_content"] = _reference(content)
    return kept


def _is_sound(content: str) -> bool:
    """Base64 has no space; a transcript of some length does."""
    return len(content) > _LONGEST_TEXT or (len(content) >= 64 and not any(letter.isspace() for letter in content))


def _reference(sound: str) -> dict[str, Any]:
    return {"digest": digest_bytes(sound.encode("utf-8", "surrogatepass")), "base64_characters": len(sound)}

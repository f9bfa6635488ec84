"""Asks a model by the openai SDK to play a tool; imported only where one is emulated."""

from __future__ import annotations

from typing import Any

import openai

__all__ = ["ask"]


def ask(model: str, messages: list[dict[str, Any]]) -> str:
    """The text of the model's reply.

    Raises:
        openai.OpenAIError: no key is set, or the provider failed.
    """
    with openai.OpenAI() as client:
        answer = client.chat.completions.create(model=model, messages=messages)  # type: ignore[arg-type]
    return answer.choices[0].message.content or ""

"""When the first chunk of a stream arrives while it is recorded."""

from __future__ import annotations

import tempfile
import time
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import openai

import trialtape as tt
from tests.provider import Provider

from .peers import vcr_recorder
from .rows import Row, Target
from .timing import median

__all__ = ["rows"]


def rows(chunks: int = 10, delay: float = 0.03, rounds: int = 5) -> list[Row]:
    """Read streams of ``chunks`` chunks, ``delay`` seconds before each."""
    provider = Provider().start()
    numbers = count()
    headers = {"x-chunks": str(chunks), "x-delay": str(delay)}
    try:
        with (
            tempfile.TemporaryDirectory() as name,
            openai.OpenAI(base_url=provider.base_url, api_key="any", max_retries=0) as client,
        ):
            folder = Path(name)

            def first(block: AbstractContextManager[Any]) -> float:
                with block:
                    began = time.perf_counter()
                    with client.chat.completions.create(
                        model="gpt-x",
                        messages=[{"role": "user", "content": f"call {next(numbers)}"}],
                        stream=True,
                        extra_headers=headers,
                    ) as stream:
                        pieces = iter(stream)
                        next(pieces)
                        waited = time.perf_counter() - began
                        for _ in pieces:
                            pass
                return waited

            first(nullcontext())
            found = median(
                {
                    "live": lambda: first(nullcontext()),
                    "ours": lambda: first(tt.trial(run="stream", task="0", home=folder)),
                    "vcrpy": lambda: first(vcr_recorder(folder / f"{next(numbers)}.yaml")),
                },
                rounds,
            )
    finally:
        provider.stop()
    return [
        Row(
            "first streamed chunk while recording, after live",
            max(found["ours"] - found["live"], 0.0) * 1e3,
            "ms",
            (found["vcrpy"] - found["live"]) * 1e3,
            "vcrpy",
            Target("<=", 20),
            note=f"the openai SDK against a local server, {chunks} chunks, {delay * 1e3:.0f} ms before each; live, the "
            f"first came after {found['live'] * 1e3:.0f} ms; median of {rounds}; an early one counts as 0",
        )
    ]

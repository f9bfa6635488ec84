"""What a cell of the table of clients asks, and the cells of openai: they are the same for each of its generations."""

from __future__ import annotations

import openai

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
KEY = "sk-no-real-key-0123456789abcdef"
PIECES = {"x-chunks": "12"}


class Asked:
    """What one cell asks of its client.

    Attributes:
        take: leave the stream after that many pieces.
        headers: tell the provider what to do.
        tools: offer one.
    """

    def __init__(self, url, *, stream, take=None, headers=None, tools=False):
        self.url, self.stream, self.take, self.tools = url, stream, take, tools
        self.headers = PIECES | (headers or {})

    def body(self):
        return ASKED | ({"stream": True} if self.stream else {})

    @property
    def chat(self):
        return f"{self.url}/v1/chat/completions"

    def taken(self, pieces, got):
        """Put the pieces into ``got``, as many as are wanted."""
        for piece in pieces:
            got.append(piece)
            if len(got) == self.take:
                break
        return got

    async def ataken(self, pieces, got):
        async for piece in pieces:
            got.append(piece)
            if len(got) == self.take:
                break
        return got


def with_openai(asked, got):
    with openai.OpenAI(api_key=KEY, base_url=f"{asked.url}/v1", max_retries=0) as client:
        answer = client.chat.completions.create(**asked.body(), extra_headers=asked.headers)
        if asked.stream:
            with answer:
                asked.taken((chunk.model_dump() for chunk in answer), got)
        else:
            got.append(answer.model_dump())


async def with_async_openai(asked, got):
    async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{asked.url}/v1", max_retries=0) as client:
        answer = await client.chat.completions.create(**asked.body(), extra_headers=asked.headers)
        if asked.stream:
            async with answer:
                await asked.ataken((chunk.model_dump() async for chunk in answer), got)
        else:
            got.append(answer.model_dump())

"""A stand-in provider for each test that asks for one, and clients of it."""

import openai
import pytest

from examples.support.server import serving


@pytest.fixture
def server():
    with serving(seed=3) as running:
        yield running


@pytest.fixture
def client(server):
    with openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0) as made:
        yield made

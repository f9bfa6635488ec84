"""Forks: recorded trials that go on from step N, and which step lost a trial."""

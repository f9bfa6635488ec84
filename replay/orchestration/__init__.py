"""Suites and runs: tasks, the agent that tries them, the simulated user, and how trials are carried out."""

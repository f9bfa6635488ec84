"""Recordings of other tools, turned into cassettes of a run."""

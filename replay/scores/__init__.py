"""Scores of recorded trials: their file, scoring again, negative controls, and what scores cannot see."""

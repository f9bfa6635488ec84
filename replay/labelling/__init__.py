"""Whose fault a trial was: by people, by judges and by rules, and how far these agree."""

"""Do the intervals, tests, gates and shares keep what they promise? By simulation, where the truth is known."""

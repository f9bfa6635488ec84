"""Trials beyond one process: the trial's side, the child's side, and programs that know nothing of either."""

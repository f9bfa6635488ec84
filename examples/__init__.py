"""Runnable examples of trialtape."""

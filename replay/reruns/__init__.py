"""Recorded calls made again: what has drifted since, and what a real environment says of them now."""

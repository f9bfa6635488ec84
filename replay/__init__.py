"""What is done with recordings: sessions and policies, runs, store, scoring, statistics, command line.

Importing this package imports nothing else: the public names are in `trialtape`.
"""

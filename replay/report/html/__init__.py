"""A run, or one trial, as a single page of HTML: offline, and readable without scripts."""

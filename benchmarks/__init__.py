"""Side-by-side measurements: ours, and a peer or a baseline in the same run. ``make bench`` writes them down."""

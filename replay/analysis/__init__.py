"""What the numbers of runs mean: from the index to statements about one run, two runs, or many nights."""

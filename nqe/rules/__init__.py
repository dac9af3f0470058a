"""Rules mined from the facts: evidence that needs no training and can be read."""

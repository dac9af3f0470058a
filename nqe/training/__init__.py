"""Training: queries, loss, schedule, loop."""

"""Answering: exact, by the model alone, or by both; calibrated and explained."""

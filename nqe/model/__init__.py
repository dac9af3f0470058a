"""The model: batches, logics, encoders, scores, checkpoints."""

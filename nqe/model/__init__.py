"""The model: batches, logics, encoders, scores, checkpoints."""

from nqe.model.batch import Batch
from nqe.model.checkpoint import from_pretrained, load, save_pretrained
from nqe.model.encoder import ENCODERS, Encoder
from nqe.model.logic import LOGICS, Logic
from nqe.model.model import Model
from nqe.model.runner import EmbeddingRunner

__all__ = [
    "ENCODERS",
    "LOGICS",
    "Batch",
    "EmbeddingRunner",
    "Encoder",
    "Logic",
    "Model",
    "from_pretrained",
    "load",
    "save_pretrained",
]

"""The model: batches, logics, encoders, scores, checkpoints."""

from nqe.model.batch import Batch
from nqe.model.checkpoint import from_pretrained, load, save_pretrained
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.encoder import ENCODERS, Encoder
from nqe.model.fuzzy_logic import LOGICS, Logic
from nqe.model.model import Model

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

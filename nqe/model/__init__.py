"""Models: the interface, NQE with its encoders, logics and scores, StarQE, and checkpoints."""

from nqe.model.checkpoint import from_pretrained, load, save_pretrained
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.encoder import ENCODERS, Encoder
from nqe.model.fuzzy_logic import LOGICS, Logic
from nqe.model.model import Comparison, EntityBlock, Model
from nqe.model.model_kinds import MODELS, new_model
from nqe.model.nqe_model import NQEModel
from nqe.model.scorer import SCORERS, Scorer
from nqe.model.starqe_model import StarQEModel

__all__ = [
    "ENCODERS",
    "LOGICS",
    "MODELS",
    "SCORERS",
    "Comparison",
    "EmbeddingRunner",
    "Encoder",
    "EntityBlock",
    "Logic",
    "Model",
    "NQEModel",
    "Scorer",
    "StarQEModel",
    "from_pretrained",
    "load",
    "new_model",
    "save_pretrained",
]

"""Rules mined from the facts: evidence that needs no training and can be read."""

from nqe.rules.rules import MinedFrom, Rules, load_rules

__all__ = ["MinedFrom", "Rules", "load_rules"]

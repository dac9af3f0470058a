"""Rules mined from the facts: evidence that needs no training and can be read."""

from nqe.rules.rule_text import RuleText
from nqe.rules.rules import MinedFrom, Rules, load_rules

__all__ = ["MinedFrom", "RuleText", "Rules", "load_rules"]

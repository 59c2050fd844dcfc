"""Where a text stands in a grammar and which tokens may come next, as fast as a copy."""

from engine.masking.explanation import Explanation, Reason
from engine.masking.matcher import Matcher
from engine.masking.runtime import warm
from engine.masking.token_automaton import clear_caches

__all__ = ["Explanation", "Matcher", "Reason", "clear_caches", "warm"]

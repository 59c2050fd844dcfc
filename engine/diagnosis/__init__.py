"""What the engine found out, as prose."""

from engine.diagnosis.distance import distance_prose
from engine.masking.byte_prose import byte_prose
from engine.masking.explanation_text import explain, explain_stacks, stands_at

__all__ = ["byte_prose", "distance_prose", "explain", "explain_stacks", "stands_at"]

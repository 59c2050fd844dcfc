"""Diagnosis of outputs and grammars, as prose."""

from engine.diagnosis.distance import distance_prose
from engine.matching.byte_descriptions import byte_prose
from engine.matching.explanation_text import explain, explain_stacks, location_text

__all__ = ["byte_prose", "distance_prose", "explain", "explain_stacks", "location_text"]

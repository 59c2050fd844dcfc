"""What the engine found out, as prose."""

from engine.diagnosis.byte_prose import byte_prose
from engine.diagnosis.explain import explain, stands_at

__all__ = ["byte_prose", "explain", "stands_at"]

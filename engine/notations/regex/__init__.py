"""Regular expressions: text to grammar nodes and findings about the text."""

from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import parse

__all__ = ["Dialect", "parse"]

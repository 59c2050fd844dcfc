"""Explanations of grammars in any notation."""

from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.explanation import Description
from engine.source import SourceText

_DEFAULT = CompileOptions()


def explain(notation: str, text: str, options: CompileOptions = _DEFAULT) -> Description:
    """Explain a text."""
    return NOTATIONS[notation].explain(SourceText(text), options)

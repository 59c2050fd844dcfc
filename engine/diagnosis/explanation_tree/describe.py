"""The explanation of a text in any notation."""

from __future__ import annotations

from engine.diagnosis.explanation_tree.gbnf import gbnf_entries
from engine.diagnosis.explanation_tree.phrases import Description, unfold
from engine.diagnosis.explanation_tree.regex import regex_entries
from engine.diagnosis.explanation_tree.schema import schema_entries
from engine.grammar.options import CompileOptions
from engine.notations.regex import Dialect
from engine.source import SourceText


def describe_grammar(notation: str, source: SourceText | str, options: CompileOptions | None = None) -> Description:
    """Explain each part of a grammar's text.

    Args:
        notation: `regex`, `gbnf` or `json_schema`.
        source: the text.
        options: the compile options, which affect the meaning of a text.

    Raises:
        GrammarError: the text does not parse.
        LimitExceededError: it is too long.
    """
    options = options or CompileOptions()
    text = source if isinstance(source, SourceText) else SourceText(source)
    if notation == "gbnf":
        return unfold(gbnf_entries(text, options.limits))
    if notation == "json_schema":
        return unfold(schema_entries(text, options))
    return unfold(regex_entries(text, Dialect(options.dialect), options.limits))

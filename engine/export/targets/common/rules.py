"""Common parts of targets that write rules: the spelling option, and the refusal of what rules cannot express."""

from __future__ import annotations

from engine.compile import CompiledGrammar
from engine.export.target import ExportOptions, OptionName, TargetGroup
from engine.export.text.plain_grammar import refusal, spelled
from engine.vocabulary import Vocabulary


class RulesTarget:
    """The part of a `Target` that all rule targets share."""

    group = TargetGroup.TEXT
    is_folder = False
    needs_vocabulary = False

    def takes(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return spelled(compiled)

    def refusal(self, compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return refusal(compiled, options)

"""What targets share that write rules: they heed the spelling, and refuse what rules over characters cannot say."""

from __future__ import annotations

from engine.compile import CompiledGrammar
from engine.export.target import ExportOptions, OptionName, TargetGroup
from engine.export.text.plain_grammar import refusal, spelled
from engine.vocabulary import Vocabulary


class RulesTarget:
    """The part of a `Target` that is the same for all rules."""

    group = TargetGroup.TEXT
    is_folder = False
    needs_vocabulary = False

    def takes(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """As `Target`."""
        return spelled(compiled)

    def refusal(self, compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
        """As `Target`."""
        return refusal(compiled, options)

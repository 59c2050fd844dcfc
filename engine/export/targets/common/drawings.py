"""Common parts of drawing targets: no options, one reason to refuse, and the check of the drawn text."""

from __future__ import annotations

from engine.compile import CompiledGrammar
from engine.export.checks.byte_walks import CompiledRecogniser, scope_of, walk_side_by_side
from engine.export.checks.rule_side import recogniser_of
from engine.export.graph.drawing import drawing, drawing_refusal, drawn_grammar
from engine.export.graph.read_dot import read_dot
from engine.export.target import Check, ExportJob, ExportOptions, OptionName, TargetGroup
from engine.vocabulary import Vocabulary


class DrawingTarget:
    """The part of a `Target` that all drawings share."""

    group = TargetGroup.PICTURE
    is_folder = False
    needs_vocabulary = False

    def takes(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return frozenset()

    def refusal(self, compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
        """Return why a grammar does not fit; only `make` finds out whether it is too large to draw."""
        return drawing_refusal(compiled)


def check_picture(job: ExportJob, shown: str) -> Check:
    """Check a picture by the text that Graphviz drew; `shown` is a sentence about the picture."""
    text, _, _ = drawing(job)
    return check_drawn(job, text, "the grammar and the text that was drawn, read back by Graphviz,", shown)


def check_drawn(job: ExportJob, text: str, compared: str, shown: str = "") -> Check:
    """Compare the text of a drawing with the engine.

    Args:
        job: the export job.
        text: the drawn text, in the DOT language.
        compared: as for `Check`.
        shown: what was seen in the picture, a sentence.

    Raises:
        MismatchError: they differ.
        CancelledError: the job was cancelled.
    """
    engine = CompiledRecogniser(drawn_grammar(job.compiled, job.cancel))
    fewer = job.compiled.notation == "json_schema"
    walks, steps = walk_side_by_side(job, engine, recogniser_of(read_dot(text)), holds_fewer=fewer)
    return Check(compared, walks, steps, f"{shown} {scope_of(job.compiled)}".strip())

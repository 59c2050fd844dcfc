"""A text that was written, compiled anew and walked side by side with the grammar that it was written from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from engine.compile import CompileOptions, compile_grammar
from engine.export.checks.byte_walks import WALKS, CompiledRecogniser, walk_side_by_side
from engine.export.target import Check, ExportJob, MismatchError
from engine.export.text.print_regex import Dialect
from engine.grammar.options import NOTATIONS
from engine.source import GrammarError, LimitExceededError


def check_text(
    job: ExportJob,
    notation: str,
    text: str,
    compared: str,
    *,
    fewer: bool,
    scope: str = "",
    walks: int = WALKS,
    dialect: Dialect = "python",
) -> Check:
    """Compile a text, a regex in this dialect, and walk it side by side with the job's grammar.

    Raises:
        MismatchError: it does not compile, or they differ.
        CancelledError: the job was cancelled.
    """
    assert notation in NOTATIONS
    # What is read back was written here, so no limit that guards against foreign input applies to its size.
    limits = job.compiled.options.limits
    limits = replace(limits, source_length=max(limits.source_length, len(text)))
    with refused_as_mismatch():
        again = compile_grammar(notation, text, CompileOptions(dialect=dialect, limits=limits), cancel=job.cancel)
    engine, export = CompiledRecogniser(job.compiled), CompiledRecogniser(again)
    walked, steps = walk_side_by_side(job, engine, export, holds_fewer=fewer, walks=walks)
    return Check(compared, walked, steps, scope)


@contextmanager
def refused_as_mismatch() -> Iterator[None]:
    """What cannot be read back is no export."""
    try:
        yield
    except (GrammarError, LimitExceededError) as error:
        raise MismatchError(f"what was written cannot be read back: {error}") from error

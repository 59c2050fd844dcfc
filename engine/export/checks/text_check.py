"""The check of a text export: it is compiled again and compared with the original grammar on random walks."""

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
    """Compile a text and compare it with the job's grammar on random walks.

    Args:
        job: the export job.
        notation: the notation of the text.
        text: the text.
        compared: the description for `Check`.
        fewer: whether the text may lack texts of the grammar.
        scope: what the check cannot see.
        walks: the number of walks.
        dialect: the dialect of a regex.

    Raises:
        MismatchError: it does not compile, or they differ.
        CancelledError: the job was cancelled.
    """
    assert notation in NOTATIONS
    # The text was written by Turnstile, so limits that guard against foreign input do not apply to its size.
    limits = job.compiled.options.limits
    limits = replace(limits, source_length=max(limits.source_length, len(text)))
    with refused_as_mismatch():
        again = compile_grammar(notation, text, CompileOptions(dialect=dialect, limits=limits), cancel=job.cancel)
    engine, export = CompiledRecogniser(job.compiled), CompiledRecogniser(again)
    walked, steps = walk_side_by_side(job, engine, export, holds_fewer=fewer, walks=walks)
    return Check(compared, walked, steps, scope)


@contextmanager
def refused_as_mismatch() -> Iterator[None]:
    """Turn errors of reading an export back into a `MismatchError`."""
    try:
        yield
    except (GrammarError, LimitExceededError) as error:
        raise MismatchError(f"what was written cannot be read back: {error}") from error

"""Runs in which nobody chooses a token, so that a source may compute ahead.

The grammar goes with the run as a guess at the tokens that follow. Each answer is that of the ids that the session asks
about, so nothing depends on whether the guess is right, or on whether the other engine reads the grammar as we do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.decoding.session import DecodeSession
from engine.grammar.print_gbnf import NoGbnfError, print_gbnf
from engine.models.source import MOST_REPEATED, ComputesAhead, ExpectedRun
from engine.servers.grammar_form import GrammarForm


@contextmanager
def running(session: DecodeSession) -> Iterator[None]:
    """Let the source of a session compute ahead while the context lasts."""
    expect_run(session, session.token_limit)
    try:
        yield
    finally:
        expect_no_run(session)


def expect_run(session: DecodeSession, most: int) -> None:
    """Let the source of a session compute ahead, if the most probable tokens are taken.

    A draw is another token too often: along runs that were drawn, closing the streams took as long as they gained.

    Args:
        session: the session, at the position from which it runs.
        most: no more tokens than these follow.
    """
    if not isinstance(session.model, ComputesAhead) or not session.sampler.is_greedy:
        return
    begin, depth = len(session.prompt_ids), len(session.steps)
    form, grammar = _grammar_of(session) if depth <= MOST_REPEATED else (None, "")
    end = begin + min(depth + most, session.token_limit)
    session.model.expect(ExpectedRun(begin, end, form, grammar))


def expect_no_run(session: DecodeSession) -> None:
    """Let the source of a session compute ahead no longer."""
    if isinstance(session.model, ComputesAhead):
        session.model.expect(None)


def _grammar_of(session: DecodeSession) -> tuple[GrammarForm | None, str]:
    """Return the grammar that the output begins with; none where a request has no form for it."""
    compiled = session.grammar
    if compiled is None or session.pipeline.zones is not None:
        return None, ""
    if compiled.describes_json:
        return GrammarForm.JSON_SCHEMA, compiled.source.text
    assert compiled.grammar is not None
    try:
        return GrammarForm.GRAMMAR, print_gbnf(compiled.grammar)
    except NoGbnfError:
        return None, ""

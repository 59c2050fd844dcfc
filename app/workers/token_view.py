"""Which tokens may come at a state of the drawing, and where they lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.workers.decode_messages import TokensAnswer, TokensRequest, TokensTo

if TYPE_CHECKING:
    from engine.decoding.session import DecodeSession
    from engine.matching import Matcher
    from engine.matching.token_groups import TokenGroup
    from engine.source import CancelToken


def tokens_at(session: DecodeSession, request: TokensRequest, revision: int, cancel: CancelToken) -> TokensAnswer:
    """Answer a `TokensRequest`; nothing where the grammar is another by now, or the text is none of its own."""
    from engine.matching.token_groups import by_first_byte, token_groups

    matcher = _matcher(session, request) if revision == request.revision else None
    if matcher is None:
        return TokensAnswer(request)
    p = session.probabilities() if request.output is None else None
    found = by_first_byte(matcher, p)
    groups = token_groups(matcher, p, cancel) if request.grouped else ()
    told = tuple(_told(session, group) for group in groups)
    return TokensAnswer(request, found.counts, found.masses, found.total, told)


def _matcher(session: DecodeSession, request: TokensRequest) -> Matcher | None:
    """A matcher of its own at the place that is asked for; None where the grammar has no say there."""
    from engine.matching import Matcher

    if session.grammar is None:
        return None
    matcher, output = Matcher(session.grammar, session.model.vocabulary), request.output
    if output is None and session.pipeline.zones is None:
        return matcher if all(matcher.accept(step.token_id) for step in session.steps) else None
    if output is None:  # the grammar rules a part of the output, and here perhaps none
        output = session.position().grammar_text
    return matcher if output is not None and (not output or matcher.accept_bytes(output)) else None


def _told(session: DecodeSession, group: TokenGroup) -> TokensTo:
    from engine.vocabulary.visible import visible

    vocabulary = session.model.vocabulary
    spelled = [vocabulary.tokens[token_id] or b"" for token_id in group.examples]
    return TokensTo(spelled[0], tuple(map(visible, spelled)), group.count, group.mass)

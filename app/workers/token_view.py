"""The tokens that are allowed at a state of the drawing, and their target states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.workers.decode_messages import TokensAnswer, TokensRequest, TokensTo

if TYPE_CHECKING:
    from engine.decoding.session import DecodeSession
    from engine.matching import Matcher
    from engine.matching.token_groups import TokenGroup
    from engine.source import CancelToken


def tokens_at(session: DecodeSession, request: TokensRequest, revision: int, cancel: CancelToken) -> TokensAnswer:
    """Answer a `TokensRequest`; the answer is empty if the grammar has changed or does not match the text.

    Args:
        session: the decode session.
        request: the position, and whether to group the tokens.
        revision: the revision of the active grammar.
        cancel: checked regularly.
    """
    from engine.matching.token_groups import by_first_byte, token_groups

    matcher = _matcher(session, request) if revision == request.revision else None
    if matcher is None:
        return TokensAnswer(request)
    p = session.probabilities() if request.output is None else None
    found = by_first_byte(matcher, p)
    groups = token_groups(matcher, p, cancel) if request.grouped else ()
    targets = tuple(_tokens_to(session, group) for group in groups)
    return TokensAnswer(request, found.counts, found.masses, found.total, targets)


def _matcher(session: DecodeSession, request: TokensRequest) -> Matcher | None:
    """Return a new matcher at the requested position; None if the grammar does not apply there."""
    from engine.matching import Matcher

    if session.grammar is None:
        return None
    matcher, output = Matcher(session.grammar, session.model.vocabulary), request.output
    if output is None and session.pipeline.zones is None:
        return matcher if all(matcher.accept(step.token_id) for step in session.steps) else None
    if output is None:  # the grammar applies to a part of the output, and here perhaps to none
        output = session.position().grammar_text
    return matcher if output is not None and (not output or matcher.accept_bytes(output)) else None


def _tokens_to(session: DecodeSession, group: TokenGroup) -> TokensTo:
    from engine.vocabulary.visible import visible

    vocabulary = session.model.vocabulary
    spelled = [vocabulary.tokens[token_id] or b"" for token_id in group.examples]
    return TokensTo(spelled[0], tuple(map(visible, spelled)), group.count, group.mass)

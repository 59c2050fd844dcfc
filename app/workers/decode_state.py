"""The state of the decode group, which all of its requests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.source import EngineError
from engine.vocabulary import visible

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.session import DecodeSession


@dataclass
class DecodeState:
    """A session and its grammar.

    Attributes:
        session: None without a model.
        grammar: the last one that compiled.
        grammar_revision: its revision; -1 without one.
        prompt_error: why the session does not have the prompt, if so.
        pipeline_error: why the session does not have the stages, if so.
    """

    session: DecodeSession | None = None
    grammar: CompiledGrammar | None = None
    grammar_revision: int = -1
    prompt_error: EngineError | None = None
    pipeline_error: EngineError | None = None

    def need_session(self) -> DecodeSession:
        """Return the session.

        Raises:
            EngineError: there is none, or its prompt or stages are not the requested ones.
        """
        if self.session is None:
            raise EngineError("workers.decode.no_model")
        if error := self.prompt_error or self.pipeline_error:
            raise error
        return self.session


def model_token_text(session: DecodeSession, token_id: int) -> str:
    """Return a token of the session's model as displayed text, or its name."""
    vocabulary = session.model.vocabulary
    return vocabulary.special.get(token_id) or visible(vocabulary.token_bytes(token_id) or b"")

"""What the writers of a schema's rules are told."""

from __future__ import annotations

from dataclasses import dataclass

from engine.automata.json.whitespace import Whitespace
from engine.export.json_characters import Spelling
from engine.source import CancelToken, Limits


@dataclass(frozen=True, slots=True)
class Settings:
    """How a schema is written.

    Attributes:
        spelling: of strings and numbers.
        whitespace: what the schema was compiled with.
        loops_as_rules: whether a loop may be rules that refer to each other; otherwise only recursion of the schema is.
        limits: how large it may become.
        cancel: asked now and then.
    """

    spelling: Spelling
    whitespace: Whitespace
    loops_as_rules: bool
    limits: Limits
    cancel: CancelToken

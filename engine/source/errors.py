"""The base classes of the exceptions that the engine raises deliberately. Any other exception is a bug."""

from __future__ import annotations

import re
from typing import Final, Self

from engine.source.catalogue import CatalogueError, catalogue_text

_KEY: Final = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")


class EngineError(Exception):
    """The base class of the engine's exceptions, which a user can read.

    It has the key of its text rather than the text: the sentence is made when it is shown, and tests and callers need
    not compare sentences.

    Args:
        key: the key of its text in the catalogue.
        fields: the values of the fields of the text. An exception among them counts as its own text.

    Attributes:
        key, fields: the arguments.

    Raises:
        CatalogueError: a sentence was given in place of a key.
    """

    def __init__(self, key: str, /, **fields: object) -> None:
        if _KEY.fullmatch(key) is None:
            raise CatalogueError(f"{key!r} is no key of the catalogue")
        super().__init__(key)
        self.key = key
        # The frames of another exception are not kept.
        self.fields = {name: str(one) if isinstance(one, BaseException) else one for name, one in fields.items()}

    @classmethod
    def of(cls, error: EngineError) -> Self:
        """Create an error of this class with the text of another one."""
        return cls(error.key, **error.fields)

    def __str__(self) -> str:
        return catalogue_text(self.key, **self.fields)

    def __reduce__(self) -> tuple[object, ...]:
        return _without_call, (type(self), self.key), vars(self)  # the constructors of subclasses have other arguments


class InvariantError(EngineError):
    """An invariant of a value does not hold, which is a mistake of the calling code or in a file."""


class CancelledError(EngineError):
    """The work was cancelled with a `CancelToken`."""

    def __init__(self) -> None:
        super().__init__("errors.cancelled")


class TimeUpError(CancelledError):
    """The work was cancelled by a time limit."""


def _without_call(kind: type[EngineError], key: str) -> EngineError:
    """Create an error whose attributes are set afterwards."""
    return kind.__new__(kind, key)

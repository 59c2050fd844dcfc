"""The base classes of the exceptions that the engine raises deliberately. Any other exception is a bug."""

from __future__ import annotations

from engine.source.catalogue import catalogue_text


class EngineError(Exception):
    """The base class of the engine's exceptions, which a user can read.

    It has the key of its text rather than the text, so that tests and callers need not compare sentences.

    Attributes:
        key: the key of its text in the catalogue, which begins with `errors.`.
        fields: the values of the fields of the text.
    """

    def __init__(self, key: str, /, **fields: object) -> None:
        super().__init__(key)
        self.key, self.fields = key, fields

    def __str__(self) -> str:
        # The command line and the window pass texts that they took from the catalogue themselves.
        return catalogue_text(self.key, **self.fields) if self.key.startswith("errors.") else self.key

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.key, self.fields)


class InvariantError(EngineError):
    """An invariant of a value does not hold, which is a mistake of the calling code; the text is for its developer."""


class CancelledError(EngineError):
    """The work was cancelled with a `CancelToken`."""

    def __init__(self) -> None:
        super().__init__("errors.cancelled")

    def __reduce__(self) -> tuple[object, ...]:
        return CancelledError, ()


def _restored(kind: type[EngineError], key: str, fields: dict[str, object]) -> EngineError:
    return kind(key, **fields)

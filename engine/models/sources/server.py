"""A running server, by its address."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from engine.models.hub import cached_tokenizer
from engine.models.server_source import attach
from engine.models.source import LogitSource, ModelError, ModelInfo
from engine.servers import ServerClient, ServerError, ServerIdentity
from engine.servers.client import is_server_address
from engine.servers.keys import key_of
from engine.servers.server_spec import ServerSpec
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, VocabularyError

STEP_TIMEOUT_S: Final = 600.0
"""The seconds for a step, in which a slow machine must read a whole prompt."""


class _Servers:
    @property
    def forms(self) -> str:
        return catalogue_text("sources.forms.server")

    def known_models(self) -> tuple[ModelInfo, ...]:
        return ()

    def recognises(self, spec: str) -> bool:
        return is_server_address(spec)

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        try:
            server = ServerSpec.read(spec)
            client = ServerClient(server.address, key=key_of(server.address), timeout=STEP_TIMEOUT_S, cancel=cancel)
        except ServerError as error:
            raise ModelError.of(error) from error
        cancel.report(catalogue_text("sources.stage.attach", address=server.address), 0)
        return attach(client, server.model, partial(_vocabulary, server.tokenizer))

    def files(self, spec: str) -> Path | None:
        try:
            return _tokenizer_path(ServerSpec.read(spec).tokenizer)
        except ServerError:
            return None


def find_tokenizer(identity: ServerIdentity, name: str = "") -> Path | None:
    """Return the file or folder of the tokenizer of a server's model on this machine; None if there is none.

    Args:
        identity: what the server says of itself.
        name: the path or the Hub id that the user gave; empty to search by the names that the server gives.
    """
    names = (name,) if name else (identity.model_path, identity.model)
    return next((found for one in names if (found := _tokenizer_path(one)) is not None), None)


def _vocabulary(name: str, identity: ServerIdentity) -> Vocabulary:
    """Return the vocabulary of `find_tokenizer`.

    Raises:
        ModelError: there is none, or it cannot be read.
    """
    path = find_tokenizer(identity, name)
    if path is None and name:
        raise ModelError("errors.models.no_tokenizer", path=name)
    if path is None:
        raise ModelError("errors.servers.needs_tokenizer", model=identity.model)
    try:
        return Vocabulary.from_tokenizer(path)
    except VocabularyError as error:
        raise ModelError.of(error) from error


def _tokenizer_path(name: str) -> Path | None:
    """Return the file or folder of a tokenizer, given by its path or by a Hub id; None if it is not here."""
    if not name:
        return None
    path = Path(name).expanduser()
    return path if path.exists() else cached_tokenizer(name)


SOURCE = _Servers()

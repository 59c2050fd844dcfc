"""Requests about servers, before the model of one is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from engine.servers import ServerIdentity


@dataclass(frozen=True, slots=True)
class IdentifyServer(WorkerRequest["ServerAnswer"]):
    """Ask a server what it is.

    Attributes:
        address: its address.
        key: the key that the user typed; empty for that of the environment or of the keyring.
    """

    address: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server says of itself, or the sentence that says why it does not.

    Attributes:
        identity: what it says; None with an error.
        title: the name of its kind.
        can_step: whether its model can be stepped.
        lacks_tokenizer: whether a tokenizer is needed, and none was found on this machine.
        error: a sentence; empty if there is an identity.
    """

    request: IdentifyServer
    identity: ServerIdentity | None = None
    title: str = ""
    can_step: bool = False
    lacks_tokenizer: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class KeepServerKey(WorkerRequest["KeptKey"]):
    """Keep the key of a server in the keyring of the system, which may ask the user for a password."""

    address: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeptKey:
    """The answer to `KeepServerKey`: a sentence that says why the key is not kept; empty if it is."""

    error: str = ""

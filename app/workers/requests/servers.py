"""Requests about servers: what they are, their keys, and whether they apply masks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from engine.diagnosis.server_probe.report import ProbeReport
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
    """The identity of a server, or the reason why it is not known.

    Attributes:
        identity: what it says; None with an error.
        title: the name of its kind.
        can_step: whether its model can be stepped.
        lacks_tokenizer: whether a tokenizer is needed, and none was found on this machine.
        has_kept_key: whether the key came from the keyring.
        error: a sentence; empty if there is an identity.
    """

    request: IdentifyServer
    identity: ServerIdentity | None = None
    title: str = ""
    can_step: bool = False
    lacks_tokenizer: bool = False
    has_kept_key: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class KeepServerKey(WorkerRequest["KeptKey"]):
    """Keep the key of a server in the keyring of the system, which may ask for a password; without one, remove it."""

    address: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeptKey:
    """The answer to `KeepServerKey`: a sentence that says why the key is not kept; empty if it is."""

    error: str = ""


@dataclass(frozen=True, slots=True)
class CheckServer(WorkerRequest["CheckedServer"]):
    """Check whether a server applies a mask; each part of the report is an intermediate answer.

    Attributes:
        address: the address of the server.
        model: the model of the server; empty for the first one that it lists.
        key: the key of the server; empty for that of the environment or the keyring.
        compiled: the grammar whose keywords are checked; None for none.
        tokenizer: the file or folder of the tokenizer to compare with; empty for none.
    """

    address: str
    model: str = ""
    key: str = field(default="", repr=False)
    compiled: CompileRequest | None = None
    tokenizer: str = ""


@dataclass(frozen=True, slots=True)
class CheckedServer:
    """The report on a server as far as it is known, or the reason why it does not go on.

    Attributes:
        report: what was found so far; None if nothing was.
        error: a sentence; empty if the check goes on or ended.
    """

    request: CheckServer
    report: ProbeReport | None = None
    error: str = ""

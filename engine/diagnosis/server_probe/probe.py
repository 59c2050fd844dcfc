"""The check of a server, from the sentence to the keywords of a grammar."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from engine.diagnosis.server_probe.asking import asking_of
from engine.diagnosis.server_probe.report import ProbeReport, WayFinding, WayState
from engine.diagnosis.server_probe.way_check import WayCheck
from engine.servers import KINDS, ServerClient, identify
from engine.source import CancelToken, EngineError

Show = Callable[[ProbeReport], None]


class UnknownWayError(EngineError):
    """The kind of server has no way of asking with this name."""


def probe_server(
    client: ServerClient,
    *,
    model: str = "",
    ways: Collection[str] = (),
    cancel: CancelToken | None = None,
    show: Show | None = None,
) -> ProbeReport:
    """Check a server.

    Args:
        client: the server.
        model: the model that requests name; by default the first that the server lists.
        ways: the names of the ways of asking to check; by default all.
        cancel: cancels the check, and receives its progress.
        show: receives the report whenever it has grown; the first has a sentence.

    Raises:
        ServerError: the server cannot be reached, wants a key, or is of no known kind.
        UnknownWayError: there is no such way.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with client.cancelled_by(cancel):
        probe = _Probe(client, model, ways, cancel, show or (lambda _: None))
        return probe.run()


class _Probe:
    """One check."""

    def __init__(
        self, client: ServerClient, model: str, ways: Collection[str], cancel: CancelToken, show: Show
    ) -> None:
        self._client, self._cancel, self._show = client, cancel, show
        self._identity = identify(client, model)
        kind = self._identity.kind
        self._asking = asking_of(kind)
        names = [way.name for way in self._asking.ways]
        for name in ways:
            if name not in names:
                title = KINDS[kind].title
                raise UnknownWayError("errors.diagnosis.unknown_way", name=name, title=title, names=", ".join(names))
        self._ways = [way for way in self._asking.ways if not ways or way.name in ways]
        self._lacks = () if ways else self._asking.lacks
        self._report = ProbeReport(
            kind,
            KINDS[kind].title,
            self._identity.version,
            self._identity.model,
            self._identity.chat_template or "",
        )

    def run(self) -> ProbeReport:
        check = WayCheck(self._client, self._identity)
        for number, way in enumerate(self._ways):
            self._cancel.report("progress.checking", number, len(self._ways))
            self._grow(ways=(*self._report.ways, check.check(way)))
        lacking = tuple(WayFinding(name, WayState.NOT_OFFERED) for name in self._lacks)
        self._grow(ways=(*self._report.ways, *lacking), is_complete=True)
        return self._report

    def _grow(self, **found: object) -> None:
        self._report = replace(self._report, **found)  # type: ignore[arg-type]
        self._show(self._report)

"""`turnstile probe-keywords`: what installed engines do with each keyword, compared with the data or written there."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from engine.cli.output import MisuseError, ProgressLine, print_json
from engine.diagnosis.server_probe.probed_keywords import probe_server_keywords
from engine.peers import PEERS
from engine.peers.adapter import OWN, PeerAbsentError
from engine.peers.keyword_probes import keyword_probes, probe_keywords, target_of
from engine.servers import ServerClient
from engine.servers.keys import key_of
from engine.source.catalogue import catalogue_text
from engine.targets import ENGINES, ProbedKeyword, engine_record, with_probed


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--engine", action="append", metavar="NAME", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Run the probes; return 1 if a named engine is absent, or one differs from the data and these are not written."""
    names = arguments.engine or [name for name in PEERS.names if name != OWN and target_of(name) in ENGINES]
    for name in names:
        if name not in PEERS and not _is_address(name):
            raise MisuseError("cli.probe-keywords.error.engine", name=name, names=", ".join(PEERS.names))
    if arguments.write and any(map(_is_address, names)):
        raise MisuseError("cli.probe-keywords.error.write_server")
    found: dict[str, tuple[ProbedKeyword, ...]] = {}
    targets = {name: target_of(name) for name in names}
    absent: dict[str, str] = {}
    with ProgressLine() as cancel:
        for name in names:
            try:
                if _is_address(name):
                    with ServerClient(name, key=key_of(name)) as client:
                        targets[name], found[name] = probe_server_keywords(client, keyword_probes(), cancel=cancel)
                else:
                    found[name] = probe_keywords(PEERS[name], keyword_probes(), cancel=cancel)
            except PeerAbsentError as error:
                absent[name] = str(error)
    differing = {name: _differing(targets[name], rows) for name, rows in found.items()}
    if arguments.write:
        for name, rows in found.items():
            _write(targets[name], rows)
    if arguments.json:
        engines = {name: [msgspec.to_builtins(row) for row in rows] for name, rows in found.items()}
        print_json({"engines": engines, "absent": absent, "differing": differing})
    else:
        print("\n".join(_lines(found, absent, differing)))
    is_as_known = arguments.write or not any(differing.values())
    return 0 if is_as_known and not absent.keys() & set(arguments.engine) else 1


def _is_address(name: str) -> bool:
    """Return whether a name is the address of a server."""
    return name.startswith(("http://", "https://"))


def _differing(target: str, rows: Sequence[ProbedKeyword]) -> list[str]:
    """Return the cases in which an engine differs from its data."""
    if target not in ENGINES:
        return []
    known = {row.case: row.effect for row in engine_record(target).probed}
    return [row.case for row in rows if known.get(row.case) is not row.effect]


def _write(target: str, rows: Sequence[ProbedKeyword]) -> None:
    if target not in ENGINES:
        return
    path = Path(str(files("resources") / "targets" / f"{target}.json"))
    content = with_probed(path.read_text("utf-8"), rows)
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        raise MisuseError("cli.probe-keywords.error.write", name=path, reason=error.strerror or error) from error


def _lines(
    found: dict[str, tuple[ProbedKeyword, ...]], absent: dict[str, str], differing: dict[str, list[str]]
) -> list[str]:
    lines = []
    for name, rows in found.items():
        for row in rows:
            about: Any = row.reason or ", ".join(row.wrong)
            mark = "*" if row.case in differing[name] else " "
            lines.append(f"{mark} {name:14} {row.effect:13} {row.case}{f': {about}' if about else ''}")
        counts = ", ".join(f"{count} {effect}" for effect, count in Counter(row.effect for row in rows).items())
        lines.append(
            catalogue_text(
                "cli.probe-keywords.summary_line",
                engine=name,
                version=rows[0].version,
                counts=counts,
                count=len(differing[name]),
            )
        )
    return [*lines, *absent.values()]

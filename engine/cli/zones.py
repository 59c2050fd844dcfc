"""Zones on the command line: files of zones, and the language of an output that has them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from engine.cli.arguments import as_text
from engine.cli.inputs import read_json_file
from engine.cli.output import MisuseError
from engine.compile import NOTATIONS, CompiledGrammar, CompileOptions, compile_grammar
from engine.decoding.constraints.zones import Zone, zoned
from engine.decoding.pipeline_settings import Afterwards, OtherZone
from engine.vocabulary import Vocabulary

_ZONE_KEYS: Final = ("notation", "grammar", "after", "after_token", "until")
_BYTES: Final = tuple(bytes((byte,)) for byte in range(256))


def add_zone_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the grammar begins in an output."""
    parser.add_argument("--after", type=as_text, default="", metavar="TEXT")
    parser.add_argument("--zones", metavar="FILE")
    parser.add_argument("--blanks", choices=["allow", "forbid"], default="allow")


def has_zones(arguments: argparse.Namespace) -> bool:
    """Return whether the command line has zones."""
    return bool(arguments.after) or arguments.zones is not None


def zoned_grammar(
    arguments: argparse.Namespace, grammar: CompiledGrammar, vocabulary: Vocabulary | None
) -> CompiledGrammar:
    """Return the language of an output in which grammars begin after triggers.

    Args:
        arguments: the parsed command line.
        grammar: the grammar of the first zone.
        vocabulary: the vocabulary of an output in tokens; None for a text.

    Raises:
        MisuseError: there is no trigger for the first zone, or the file of zones has another form.
    """
    if not arguments.after:
        raise MisuseError("cli.zones.error.after")
    blanks = arguments.blanks == "allow"
    zones = [Zone(grammar, arguments.after, allows_blanks=blanks)]
    for zone in read_zones(arguments.zones) if arguments.zones is not None else ():
        if zone.notation:
            inner = compile_grammar(zone.notation, zone.text, CompileOptions(escapes="any", numbers="any"))
            zones.append(Zone(inner, zone.after, until=zone.until, allows_blanks=blanks))
    then = Afterwards.AGAIN if len(zones) > 1 else Afterwards.STOP
    return zoned(zones, vocabulary or Vocabulary(_BYTES, eos_ids=[]), then)


def read_zones(name: str) -> Iterator[OtherZone]:
    """Read zones with their own grammars: a JSON list of objects.

    Raises:
        MisuseError: the file cannot be read, or has another form.
    """
    document = read_json_file(name)
    if not isinstance(document, list):
        raise MisuseError("cli.generate.error.not_a_list", name=name)
    for number, zone in enumerate(document, 2):
        if not isinstance(zone, dict) or not all(isinstance(value, str) for value in zone.values()):
            raise MisuseError("cli.generate.error.not_an_object", number=number, name=name)
        if unknown := zone.keys() - _ZONE_KEYS:
            given = {"number": number, "name": name, "key": repr(min(unknown)), "keys": ", ".join(_ZONE_KEYS)}
            raise MisuseError("cli.generate.error.unknown_key", **given)
        notation = zone.get("notation", "")
        if notation not in ("", *NOTATIONS):
            given = {"number": number, "name": name, "notation": repr(notation), "notations": ", ".join(NOTATIONS)}
            raise MisuseError("cli.generate.error.unknown_notation", **given)
        texts = {key: zone.get(key, "") for key in ("after", "after_token", "until")}
        yield OtherZone(notation=notation, text=zone.get("grammar", ""), **texts)

"""The options of `generate` that define a pipeline."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from engine.cli.output import MisuseError
from engine.compile import NOTATIONS
from engine.decoding.pipeline_settings import (
    DEFAULT_ORDER,
    Afterwards,
    OtherZone,
    PipelineSettings,
    Strategy,
    TableSettings,
    ZoneSettings,
)
from engine.source import InvariantError

Text = Callable[[str], str]
TOKEN_MACHINES = ("static", "pattern", "table")
_ZONE_KEYS = ("notation", "grammar", "after", "after_token", "until")


def add_stages(parser: argparse.ArgumentParser, text: Text, natural: Callable[[str], int]) -> None:
    """Add the options that enable stages.

    Args:
        parser: the parser of `generate`.
        text: parses any text.
        natural: parses a number from 0.
    """
    stages = parser.add_argument_group("stages beside the grammar")
    stages.add_argument(
        "--within-budget",
        action="store_true",
        help="take only tokens after which the grammar can still end within --max-tokens: the output is complete",
    )
    stages.add_argument(
        "--static", type=text, default="", metavar="PATTERN", help="a set for each position, as 'LOWER{5} NEWLINE'"
    )
    stages.add_argument(
        "--pattern",
        type=text,
        default="",
        help='classes of tokens and texts, as \'UPPER+ ":" " " LOWER+ NEWLINE\'; classes are UPPER, LOWER, LETTER, '
        "DIGIT, SPACE, NEWLINE, PUNCT and ANY",
    )
    stages.add_argument(
        "--table", metavar="FILE", help='JSON: {"initial": 1, "transitions": [[state, token id, next state], …]}'
    )
    stages.add_argument(
        "--suppress", type=text, action="append", default=[], metavar="TEXT", help="never write it; may come again"
    )
    stages.add_argument(
        "--suppress-token",
        type=natural,
        action="append",
        default=[],
        metavar="ID",
        help="never take it; may come again",
    )
    stages.add_argument(
        "--bias",
        type=text,
        action="append",
        default=[],
        metavar="TEXT=N",
        help="add N to the logits of the tokens that hold a text, or of '#ID'; may come again",
    )
    stages.add_argument(
        "--order", metavar="NAMES", help=f"the stages from first to last, with commas ({','.join(DEFAULT_ORDER)})"
    )
    stages.add_argument(
        "--forced",
        "--coalesce",
        choices=[one.value for one in Strategy],
        default=Strategy.NONE.value,
        help="take what the grammar forces without asking the model, in the longest tokens, as its tokenizer writes "
        "it, or as the model finds it likeliest; see also the command forced (none)",
    )
    zones = parser.add_argument_group("a part of the output that the grammar rules")
    zones.add_argument("--after", type=text, default="", metavar="TEXT", help="the grammar begins behind this text")
    zones.add_argument("--after-token", type=text, default="", metavar="NAME", help="or behind this special token")
    zones.add_argument("--until", type=text, default="", metavar="TEXT", help="a text that must follow the grammar's")
    zones.add_argument(
        "--then",
        choices=[one.value for one in Afterwards],
        help="what follows: nothing, any text, or any text and the trigger again (stop)",
    )
    zones.add_argument(
        "--zones",
        metavar="FILE",
        help='further parts with grammars of their own, as JSON: [{"after": TEXT, "until": TEXT, "notation": NOTATION, '
        '"grammar": TEXT}, …]; "after_token" is a special token, and without a notation the part is free text',
    )
    zones.add_argument("--optional", action="store_true", help="the output may end without the grammar's part")


def pipeline_of(arguments: argparse.Namespace) -> PipelineSettings:
    """Return the pipeline settings of the options.

    Raises:
        MisuseError: they contradict each other or cannot be read; the message says which and why.
    """
    from engine.decoding.processors import parse_pattern

    try:
        for pattern in (arguments.static, arguments.pattern):
            parse_pattern(pattern)
        return PipelineSettings(
            order=DEFAULT_ORDER
            if arguments.order is None
            else tuple(name.strip() for name in arguments.order.split(",")),
            zones=_zones(arguments),
            budget=arguments.within_budget,
            static=arguments.static,
            pattern=arguments.pattern,
            table=None if arguments.table is None else _table(arguments.table),
            suppress=tuple(arguments.suppress),
            suppress_ids=tuple(arguments.suppress_token),
            bias=tuple(_bias(given) for given in arguments.bias),
            forced=Strategy(arguments.forced),
        )
    except InvariantError as error:
        raise MisuseError(str(error)) from error


def _zones(arguments: argparse.Namespace) -> ZoneSettings | None:
    trigger = arguments.after or arguments.after_token
    if not (trigger or arguments.until or arguments.then or arguments.zones):
        if arguments.optional:
            raise MisuseError("--optional needs --after or --after-token: without them the grammar rules all")
        return None
    return ZoneSettings(
        after=arguments.after,
        after_token=arguments.after_token,
        until=arguments.until,
        then=Afterwards(arguments.then or Afterwards.STOP),
        required=not arguments.optional,
        others=() if arguments.zones is None else tuple(_other_zones(arguments.zones)),
    )


def _other_zones(name: str) -> Iterator[OtherZone]:
    try:
        document: Any = json.loads(Path(name).read_text("utf-8"))
    except OSError as error:
        raise MisuseError(f"cannot read {name}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise MisuseError(f"cannot read {name}: it is not JSON ({error})") from error
    if not isinstance(document, list):
        raise MisuseError(f"cannot read {name}: it is not a list of zones")
    for number, zone in enumerate(document, 2):
        if not isinstance(zone, dict) or not all(isinstance(value, str) for value in zone.values()):
            raise MisuseError(f"zone {number} of {name} is not an object of texts")
        if unknown := zone.keys() - _ZONE_KEYS:
            raise MisuseError(f"zone {number} of {name} has {min(unknown)!r}; known are {', '.join(_ZONE_KEYS)}")
        notation = zone.get("notation", "")
        if notation not in ("", *NOTATIONS):
            raise MisuseError(f"zone {number} of {name} is in {notation!r}; there are {', '.join(NOTATIONS)}")
        texts = {key: zone.get(key, "") for key in ("after", "after_token", "until")}
        yield OtherZone(notation=notation, text=zone.get("grammar", ""), **texts)


def _bias(given: str) -> tuple[str, float]:
    text, equals, value = given.rpartition("=")
    try:
        return text, float(value)
    except ValueError as error:
        problem = f"{value!r} is no number" if equals else "the '=' is missing"
        raise MisuseError(f"--bias {given!r} is not TEXT=N: {problem}") from error


def _table(name: str) -> TableSettings:
    try:
        document: Any = json.loads(Path(name).read_text("utf-8"))
        transitions = tuple((int(state), int(token), int(after)) for state, token, after in document["transitions"])
        return TableSettings(transitions, int(document["initial"]))
    except OSError as error:
        raise MisuseError(f"cannot read {name}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        form = '{"initial": 1, "transitions": [[state, token id, next state], …]}'
        raise MisuseError(f"cannot read {name}: it is not JSON of the form {form}") from error

"""Holds formats against judges of their own: random texts of the engine's automaton, and changed valid texts.

Three kinds of texts are tried. Random walks of a format's table, completed, have to be accepted and valid. Valid texts
with a few changes are judged by both sides. Host names are made of labels that test the rules of IDNA: contextual
characters, normal forms, both directions, code points far apart, whose Punycode is longest, and A-labels.

No text may be accepted that the judge refuses. What the judge accepts may only be refused where the format is known to
be narrower than the standard (`NARROWER`); such texts are counted.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable
from functools import cache

from idna import idnadata

from engine import CompiledGrammar, compile_grammar
from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.tables import TableAutomaton, table_of
from tests.exactness.soundness.format_oracles import DOTS, ORACLES
from tests.exactness.soundness.tally import Tally

NARROWER = {
    "idn-hostname": "labels whose A-label is long, astral characters, names of many labels, some normal forms",
    "hostname": "A-labels in upper case, or of more than 59 characters",
    "idn-email": "labels as in idn-hostname, local parts of characters of several widths, domains of 190 octets",
}
"""The formats that the engine accepts a part of, and what it leaves out."""

_JOINERS = frozenset("\u200c\u200d")
_LONGEST_WALK = 60
_CHANGES = 3
_TEXTS = 12

_SEEDS = {
    "date": ["2024-02-29", "1999-12-31", "2000-02-28", "0001-01-01", "9999-12-31"],
    "time": ["23:59:60Z", "00:00:00.5-00:00", "12:30:59+05:30", "22:59:60-01:00", "00:29:60+00:30"],
    "date-time": ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "1999-06-30t22:59:60-01:00"],
    "duration": ["P1Y2M3DT4H5M6S", "P4W", "PT36H", "PT1M1S", "P10D"],
    "ipv4": ["0.0.0.0", "255.255.255.255", "192.168.10.99"],
    "ipv6": ["::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8", "fe80::1", "1:2:3:4:5:6:1.2.3.4"],
    "uuid": ["2eb8aa08-AA98-11ea-b4aa-73b441d16380"],
    "email": ["a.b+c@d-e.f", '"a\\"b c"@x', "x@[1.2.3.4]", "x@[IPv6:::1]", "a" * 64 + "@b"],
    "idn-email": ["\u00fc.x@\u00fc.example", '"\u4e2d"@a', "\uc2e4@\uc2e4.\ud14c", "a@\u05d0.b", "a@0.\u05d0", "a@b"],
    "uri": ["http://u:p@h:80/a;b?c=d#e", "urn:a:b", "mailto:x@y.z", "file:///x", "http://[::1]:1/", "a:", "x://[v1.a]"],
    "uri-reference": ["//h/a", "/a//b", "./a:b", "?q#f", "", "a%20b", "http://h"],
    "iri": ["http://\u00fc/\u00e9?\ue000#\u00e9", "a:\U00020000"],
    "iri-reference": ["\u00e9#\u00e9", "//\u00fc", "?\uf8ff"],
    "uri-template": ["a{x}{+x,y:3}{/a,b*}{?q}", "%41{%41.b}", "\u00e9{#x:9999}"],
    "json-pointer": ["/a~0b/~1", "", "/\u00e9//"],
    "relative-json-pointer": ["0", "10#", "2/a~1", "0/"],
    "hostname": ["a-b.c1.1", "A", "a" * 63 + ".b", "xn--4db.a", "xn--zca", "xn--0-gyc.1"],
    "idn-hostname": ["\u05d0.a", "0.\u00fc", "a\u3002b", "xn--4db.\u05d0", "\u0915\u094d\u200d\u0937"],
}
_COMMON = "abxyzABZ019-._~:/?#[]@!$&'()*+,;=%{}\"\\ \n\u00e9\u05d0\U00020000"


def check(rng: random.Random, tally: Tally) -> None:
    """Choose one format and try texts on it."""
    name = rng.choice(tuple(ORACLES))
    for _ in range(_TEXTS):
        if rng.random() < 0.35:
            text, is_walk = _walk(_table(name), rng), True
        elif name in ("email", "idn-email") and rng.random() < 0.4:
            text, is_walk = _make_mailbox(rng, is_ascii=name == "email"), False
        elif name in ("hostname", "idn-hostname") and rng.random() < 0.8:
            text, is_walk = _make_name(rng, is_ascii=name == "hostname"), False
        else:
            text, is_walk = _change(rng.choice(_SEEDS[name]), rng), False
        _judge(name, text, tally, is_walk=is_walk)


def _judge(name: str, text: str, tally: Tally, *, is_walk: bool) -> None:
    accepted, valid = _grammar(name).fullmatch(json.dumps(text, ensure_ascii=False)), ORACLES[name](text)
    if name in ("date", "date-time") and text.startswith("0000"):
        tally.skip("the year 0000, which Python does not have")
    elif name == "idn-email" and not _JOINERS.isdisjoint(text) and not unicodedata.is_normalized("NFC", text):
        tally.skip("a joiner in a text that is not in normal form C, which the judge does not read as it is")
    elif accepted and not valid:
        tally.differ("false accept", "json_schema", _source(name), text)
    elif is_walk and not accepted:
        tally.differ("walk is refused", "json_schema", _source(name), text)
    elif accepted == valid:
        tally.agree()
    elif name in NARROWER:
        tally.differ_as_known(f"{name}: {NARROWER[name]}")
    else:
        tally.differ("false reject", "json_schema", _source(name), text)


def _source(name: str) -> str:
    return json.dumps({"type": "string", "format": name})


@cache
def _grammar(name: str) -> CompiledGrammar:
    return compile_grammar("json_schema", _source(name))


@cache
def _table(name: str) -> TableAutomaton:
    table = table_of(("format", name), Escapes.ANY)
    assert table is not None
    return table


def _walk(table: TableAutomaton, rng: random.Random) -> str:
    """Walk at random, then on a shortest way to a state that accepts."""
    state, text = table.start, ""
    length = rng.choice((1, 5, 15, _LONGEST_WALK))
    while not (len(text) >= length and table.accepts(state)):
        following = [(letter, to) for letter, to in enumerate(table.row(state)) if to != DEAD]
        if not following:
            break
        if len(text) >= length:
            least = min(table.characters(to) for _, to in following)
            following = [(letter, to) for letter, to in following if table.characters(to) == least]
        letter, state = rng.choice(following)
        text += _character(table, letter, rng)
    return text


def _character(table: TableAutomaton, letter: int, rng: random.Random) -> str:
    first, last = rng.choice(_ranges(table)[letter])
    return chr(rng.choice((first, last, rng.randint(first, last))))


@cache
def _ranges(table: TableAutomaton) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for first, last, letter in table.char_classes.segments:
        pieces = [(max(first, low), min(last, high)) for low, high in ((0, 0xD7FF), (0xE000, 0x10FFFF))]
        found.setdefault(letter, []).extend((low, high) for low, high in pieces if low <= high)
    return found


def _change(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(0, _CHANGES)):
        at = rng.randint(0, len(text))
        new = rng.choice(text) if text and rng.random() < 0.5 else rng.choice(_COMMON)
        match rng.randrange(4):
            case 0:
                text = text[:at] + new + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + new + text[at + 1 :]
            case 3:
                end = rng.randint(at, len(text))
                text = text[:end] + text[at:end] * rng.randint(1, 3) + text[end:]
    return text


# ---------------------------------------------------------------------- names

_SPECIAL = "\u200c\u200d\u00b7\u0375\u05f3\u05f4\u30fb\u0660\u0669\u06f0\u06f9l-0A\u094d\u0300\u0308\u3099\u302e\u1100"
_SCRIPTS = (
    "abz09-",
    "\u05d0\u05d1\u0628\u064a\u0660\u06f00-",
    "l\u03b1\u00b7\u0375\u00fc-0",
    "\u0915\u094d\u200c\u200d\u0937\u05d0-",
    "\u30a1\u30fb\u4e08a\u05d0",
    "\u00fc\u00e9\u00df\u0430\u0431\u0432",
)


@cache
def _valid_characters() -> tuple[tuple[str, ...], ...]:
    """Return the characters that are valid in a U-label, by direction and category."""
    found: dict[tuple[str, str], list[str]] = {}
    for run in idnadata.codepoint_classes["PVALID"]:
        for code in range(run >> 32, run & 0xFFFFFFFF):
            key = unicodedata.bidirectional(chr(code)), unicodedata.category(chr(code))[0]
            found.setdefault(key, []).append(chr(code))
    return tuple(tuple(characters) for characters in found.values())


def _make_name(rng: random.Random, *, is_ascii: bool) -> str:
    labels = [rng.choice((_make_label, _make_label, _make_far_label))(rng) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    for index, label in enumerate(labels):
        if not label.isascii() and (is_ascii or rng.random() < 0.3):
            labels[index] = "xn--" + label.encode("punycode").decode("ascii")
    dots = "." if is_ascii or rng.random() < 0.7 else DOTS
    return "".join(label + rng.choice(dots) for label in labels[:-1]) + labels[-1]


def _make_mailbox(rng: random.Random, *, is_ascii: bool) -> str:
    """Make an address whose local part, labels and total length are about as long as they may be."""
    octets = rng.choice((1, 20, 40, 60, 61, 62, 63, 64, 65, 66))
    alphabet, local = "a" if is_ascii else "a" + "".join(rng.choices("b.\u00fc\u4e2d\U0001f600", k=2)), ""
    is_quoted = rng.random() < 0.2
    while len(local.encode()) + 2 * is_quoted < octets:
        local += rng.choice((*alphabet, '\\"' if is_quoted else "c"))
    local = f'"{local}"' if is_quoted else local
    domain_octets = rng.choice(
        (1, 10, 63, 64, 187, 188, 189, 190, 191, *(254 - 1 - len(local.encode()) + n for n in (-1, 0, 1)))
    )
    domain = ""
    while len(domain) < domain_octets:
        label = rng.choice(("a", "b-c", "x" * 62, "x" * 63, "x" * rng.randint(1, 63)))
        domain += label[: max(1, domain_octets - len(domain))] + "."
    if not is_ascii and rng.random() < 0.2:
        domain = _make_label(rng) + "." + domain
    return f"{local}@{domain[:-1]}"


def _make_label(rng: random.Random) -> str:
    script = rng.choice(_SCRIPTS)
    choices: tuple[Callable[[], str], ...] = (
        *(4 * (lambda: rng.choice(script),)),
        lambda: rng.choice(_SPECIAL),
        lambda: rng.choice(rng.choice(_valid_characters())),
    )
    label = "".join(rng.choice(choices)() for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 5, 8, 12))))
    return unicodedata.normalize("NFC", label) if rng.random() < 0.7 else label


def _make_far_label(rng: random.Random) -> str:
    """Make a label of code points far apart, whose Punycode is long, about as long as the engine accepts."""
    low, high = "\u00df\u00e0\u00e1\u0101\u0103\u03b1", "\ua78c\ua723\u4e00\u9fa5\uac00\ud7a3\ufa0e\U00020000\U0002fa1d"
    beyond = rng.choice((3, 8, 10, 11, 14, 30, 55))
    label = [rng.choice(rng.choice((low, high, rng.choice(_valid_characters())))) for _ in range(beyond)]
    label += [rng.choice("abc0") for _ in range(rng.choice((0, 2, 6, 7, 30, 40, 41)))]
    match rng.randrange(3):
        case 0:
            rng.shuffle(label)
        case 1:
            label.sort(reverse=rng.random() < 0.5)
    return "".join(label)

"""Host names with A-labels, letter by letter: what is known to complete them, and where the text decides."""

import random
import re
from itertools import product
from string import ascii_lowercase, digits

import idna
import pytest

from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.a_labels import (
    DOTS,
    ALabel,
    Beginning,
    NamesWithALabels,
    classify,
    end_of,
)
from tests.exactness.soundness.format_oracles import ORACLES

LETTERS = ascii_lowercase + digits
HAS_CAPITAL = re.compile("[A-Z]").search
VALID = "bcher-kva fiqs8s mgberp4a5d4ar p1ai 80ak6aa92e zca ---6kccl6ap0agkc7a2i 11b2ezcw70k ll-0ea".split()
INVALID = (
    "",
    "a",
    "-",
    "x",
    "fiqs8",
    "fiqs8S",
    "bcher-KVA",
    "l-fda",
    "hello-txk",
    "a-9999999999",
    "aa---o47jg78q",
    "wva3j",
)


def beginning_of(text):
    beginning = Beginning(0, "", "")
    for character in text:
        beginning = beginning.longer(character)
    return beginning


def run(names, text, state=None):
    """The state behind a text: gates open for what is an A-label, and states that ask are answered."""
    state, label = state or names.start, ""
    for character in text:
        if names.depends_on_label(state):
            state = names.given_label(state, classify(label))
        state = names.row(state)[names.char_classes.of(ord(character))]
        gate = names.gates.get(state)
        if gate is not None:
            if not gate.begins:
                return DEAD  # the state was told
            state, label = gate.to[ALabel.ANYWHERE], ""
        else:
            label += character
        if state == DEAD:
            return DEAD
    return names.given_label(state, classify(label)) if names.depends_on_label(state) else state


@pytest.mark.parametrize("encoded", VALID)
def test_a_labels(encoded):
    assert classify(encoded)
    assert idna.alabel(idna.ulabel(f"xn--{encoded}")).decode() == f"xn--{encoded}"


@pytest.mark.parametrize("encoded", INVALID)
def test_no_a_labels(encoded):
    assert classify(encoded) is ALabel.INVALID


def test_every_beginning_has_an_end_that_makes_an_a_label_of_it():
    rng = random.Random(2)
    for length in range(59):
        for head in product("a-", repeat=min(length, 4)):
            for last in "a-" if length > 4 else "a":
                middle = "".join(rng.choice(LETTERS + "-") for _ in range(length - 5)) + last if length > 4 else ""
                text = "".join(rng.choice(LETTERS) if kind == "a" else kind for kind in head) + middle
                end = end_of(beginning_of(text))
                assert classify(text + end) is ALabel.ANYWHERE, text
                assert len(end) <= 9


@pytest.mark.parametrize("name", sorted(DOTS))
def test_every_state_within_an_a_label_can_be_completed(name):
    names, rng = NamesWithALabels(name, Escapes.ANY), random.Random(name)
    for _ in range(12):
        before = rng.choice(["", "a.", "ab-c." * rng.randint(45, 49)])
        label, state = "", run(names, f"{before}xn--")
        end = end_of(beginning_of(""))
        characters = rng.choice([LETTERS, LETTERS + "-" * 36, "-a"])
        while state != DEAD:
            assert len(f"xn--{label}{end}") <= 63
            assert names.accepts(run(names, f"{before}xn--{label}{end}")), label
            following = end[:1] if rng.random() < 0.1 else rng.choice(characters)
            label += following
            end = end[1:] if following == end[:1] else end_of(beginning_of(label))
            state = run(names, f"{before}xn--{label}")
        assert len(label) > 50 or len(before) > 200


@pytest.mark.parametrize("name", sorted(DOTS))
def test_what_is_accepted_is_a_name(name):
    names, rng = NamesWithALabels(name, Escapes.ANY), random.Random(name)
    for _ in range(200):
        labels = [rng.choice([*("xn--" + each for each in (*VALID, *INVALID)), "a", "0-b"]) for _ in range(3)]
        valid = ORACLES[name](".".join(labels)) and not any(map(HAS_CAPITAL, labels))
        assert names.accepts(run(names, ".".join(labels))) is valid, labels


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("zca", ALabel.ANYWHERE),
        ("4db", ALabel.RIGHT_TO_LEFT),
        ("ngba1o", ALabel.RIGHT_TO_LEFT),
        ("0-gyc", ALabel.NOT_BIDI),
        ("0ca24w", ALabel.INVALID),
        ("example-", ALabel.INVALID),
        ("--9uc", ALabel.INVALID),
    ],
)
def test_classes(label, found):
    assert classify(label) is found


def test_as_many_characters_are_counted_as_there_are():
    names = NamesWithALabels("hostname", Escapes.ANY)
    for count in range(230, 250):
        before = "a." * (count // 2) + "a" * (count % 2)
        before = before if before.endswith(".") else before[:-3] + "aa."
        assert names.accepts(run(names, before + "xn--zca")) is (len(before) + 7 <= 253)
        assert names.accepts(run(names, "xn--zca." + before + "a")) is (len(before) + 9 <= 253)


def test_the_longest_a_labels():
    names = NamesWithALabels("hostname", Escapes.ANY)
    for count in range(1, 60):
        label = "xn--" + "b" * count + end_of(beginning_of("b" * count))
        assert names.accepts(run(names, label)) is (len(label) <= 63)
    # What fits in 59 characters is read.
    for count in range(1, 50):
        label = idna.alabel("b" * count + "\u00e9" * 5).decode()
        assert names.accepts(run(names, label)) or len(label) > 59

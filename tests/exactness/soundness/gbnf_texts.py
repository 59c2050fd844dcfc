"""GBNF grammars with left recursion, hidden left recursion, nullable and ambiguous rules, against an Earley recogniser.

The same random choices write the grammar's text for Turnstile and its productions for the recogniser.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from engine import GrammarError, compile_grammar
from engine.automata.byte_automaton import DEAD
from tests.exactness.soundness.earley import Recogniser, Symbol
from tests.exactness.soundness.tally import Tally

TEXTS = 40
"""The number of texts for each grammar, before equal ones are left out."""

CHARACTERS = "abcé€😀\n"
_LONGEST = 10
_REPETITIONS = (
    *((0, None, "*"), (1, None, "+"), (0, 1, "?")),
    *((2, 2, "{2}"), (1, 3, "{1,3}"), (0, 2, "{0,2}"), (2, None, "{2,}")),
)


@dataclass
class Grammar:
    """A grammar as text and as productions.

    Attributes:
        lines: its rules as they are written.
        productions: the same for a recogniser, groups and repetitions as rules of their own.
        characters: those that it is about.
    """

    characters: list[str]
    lines: list[str] = field(default_factory=list)
    productions: dict[str, list[list[Symbol]]] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The grammar's text."""
        return "\n".join(self.lines)


def make_grammar(rng: random.Random, depth: int = 2) -> Grammar:
    """Make a grammar of one to four rules that refer to one another at random.

    Args:
        rng: the random numbers.
        depth: how deep groups are nested; without groups there are at most two rules.
    """
    grammar = Grammar(rng.sample(CHARACTERS, rng.randint(2, 4)))
    names = ["root", "a", "b", "c-d"][: rng.choice((1, 2, 2, 3, 3, 4) if depth else (1, 2))]
    maker = _Maker(rng, grammar, names)
    for name in names:
        text, ways = maker.alternatives(depth)
        grammar.lines.append(f"{name} ::= {text}")
        grammar.productions[name] = ways
    return grammar


class _Maker:
    def __init__(self, rng: random.Random, grammar: Grammar, names: list[str]) -> None:
        self._rng, self._grammar, self._names = rng, grammar, names
        self._references = rng.choice((0.2, 0.4, 0.6))

    def alternatives(self, depth: int) -> tuple[str, list[list[Symbol]]]:
        ways = [self._sequence(depth) for _ in range(self._rng.choice((1, 2, 2, 3)))]
        return " | ".join(text for text, _ in ways), [symbols for _, symbols in ways]

    def _sequence(self, depth: int) -> tuple[str, list[Symbol]]:
        items = [self._item(depth) for _ in range(self._rng.choice((1, 1, 2, 2, 3)))]
        return " ".join(text for text, _ in items), [symbol for _, symbols in items for symbol in symbols]

    def _item(self, depth: int) -> tuple[str, list[Symbol]]:
        text, symbols = self._atom(depth)
        if self._rng.random() < 0.25 and text != '""':
            return self._repeated(text, symbols)
        return text, symbols

    def _atom(self, depth: int) -> tuple[str, list[Symbol]]:
        rng = self._rng
        chance = rng.random()
        if chance < self._references:
            name = rng.choice(self._names)
            return name, [name]
        if depth and chance > 0.85:
            text, ways = self.alternatives(depth - 1)
            return f"({text})", [self._rule(ways)]
        if rng.random() < 0.6:
            literal = "".join(rng.choices(self._grammar.characters, k=rng.choice((0, 1, 1, 1, 2))))
            return f'"{_escaped(literal)}"', [_takes(character) for character in literal]
        return self._class()

    def _class(self) -> tuple[str, list[Symbol]]:
        rng = self._rng
        if rng.random() < 0.1:
            return ".", [lambda character: True]
        members = rng.sample(self._grammar.characters, rng.randint(1, 2))
        low, high = min(members), max(members)
        negated = rng.random() < 0.3
        if rng.random() < 0.3:
            text, taken = f"{_escaped(low)}-{_escaped(high)}", lambda character: low <= character <= high
        else:
            text, taken = _escaped("".join(members)), lambda character: character in members
        return f"[{'^' * negated}{text}]", [lambda character: taken(character) != negated]

    def _repeated(self, text: str, symbols: list[Symbol]) -> tuple[str, list[Symbol]]:
        least, most, sign = self._rng.choice(_REPETITIONS)
        further: Symbol = self._rule([[]])
        rest = self._grammar.productions[str(further)]
        if most is None:
            rest.append([further, *symbols])
        else:
            for _ in range(most - least):
                further = self._rule([[], [*symbols, further]])
        return text + sign, [*symbols * least, further]

    def _rule(self, ways: list[list[Symbol]]) -> str:
        name = f"#{len(self._grammar.productions)}"
        self._grammar.productions[name] = ways
        return name


def _takes(wanted: str) -> Callable[[str], bool]:
    return lambda character: character == wanted


def _escaped(text: str) -> str:
    return text.replace("\n", "\\n")


def check(rng: random.Random, tally: Tally) -> None:
    """Make one grammar and try some texts."""
    grammar = make_grammar(rng)
    source = grammar.source
    try:
        compiled = compile_grammar("gbnf", source)
    except GrammarError as error:
        codes = sorted({finding.code for finding in error.diagnostics if finding.severity == "error"})
        tally.differ("refused", "gbnf", source, "", ", ".join(codes))
        return
    recogniser, automaton = Recogniser(grammar.productions, "root"), compiled.automaton
    for text in texts(rng, grammar):
        length, may_end = recogniser.prefixes(text)
        expected = length == len(text) and may_end
        accepted = compiled.fullmatch(text)
        reached = _legal_characters(automaton, text)
        if accepted != expected:
            tally.differ(
                "false accept" if accepted else "false reject", "gbnf", source, text, "against the Earley recogniser"
            )
        elif reached != length:
            detail = f"Turnstile follows {reached} characters, the recogniser {length}"
            tally.differ("prefix", "gbnf", source, text, detail)
        else:
            tally.agree()


def _legal_characters(automaton: object, text: str) -> int:
    """Return how many characters the automaton follows; -1 where no text matches."""
    configuration = automaton.start
    if configuration == DEAD:
        return -1
    for at, character in enumerate(text):
        configuration = automaton.run(configuration, character.encode())
        if configuration == DEAD:
            return at
    return len(text)


def texts(rng: random.Random, grammar: Grammar) -> list[str]:
    """Return texts of the grammar, some of those changed, and some at random."""
    found: dict[str, None] = {"": None}
    for _ in range(TEXTS):
        chance = rng.random()
        text = _derived(rng, grammar) if chance < 0.75 else ""
        if chance < 0.3 and text:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(grammar.characters) * rng.randint(0, 2) + text[at + rng.randint(0, 1) :]
        elif chance >= 0.75:
            text = "".join(rng.choices([*grammar.characters, "a", "z"], k=rng.randint(1, 8)))
        found[text[:_LONGEST]] = None
    return list(found)


def _derived(rng: random.Random, grammar: Grammar) -> str:
    """Return a text of the grammar, or the beginning of one where it becomes too long."""
    read: list[str] = []
    todo: list[Symbol] = ["root"]
    for _ in range(200):
        if not todo or len(read) >= _LONGEST:
            break
        symbol = todo.pop()
        if callable(symbol):
            fitting = [character for character in grammar.characters if symbol(character)]
            read.append(rng.choice(fitting or ["z"]))
            continue
        ways = grammar.productions[symbol]
        if len(todo) > 8:
            ways = sorted(ways, key=len)[:1]
        todo += reversed(rng.choice(ways))
    return "".join(read)

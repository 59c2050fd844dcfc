"""Completions of all notations, in bytes, in tokens and within budgets, against breadth-first searches.

From places that a random walk reaches, a search tries everything that may follow, level by level, on an automaton that
only the search uses. A completion that is reported must be accepted, and the distance that the search finds must lie
within the reported bounds. A search that outgrows its effort still proves that nothing shorter exists.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine import (
    CompiledGrammar,
    CompileOptions,
    GrammarError,
    LimitExceededError,
    Matcher,
    Vocabulary,
    compile_grammar,
)
from engine.analysis.token_budget import BudgetSearch
from engine.automata.byte_automaton import DEAD
from engine.automata.completion import Alphabet, Completion
from engine.source import Severity
from tests.exactness.soundness.gbnf_texts import make_grammar
from tests.exactness.soundness.patterns import Maker, write
from tests.exactness.soundness.tally import Tally

EFFORT = 200
"""The number of places that one search steps from."""
REPORTED_EFFORT = 2 * EFFORT
"""The effort of the completions that are judged, beyond what a search can say about them."""
WALKS, STEPS = 3, 6
BUDGETS = 4
BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), None], [256])


@dataclass(frozen=True)
class Case:
    """A grammar that compiles, with what is needed to report it.

    Attributes:
        notation: the notation.
        source: the text.
        options: those of the compile.
        letters: bytes that its texts are likely to have.
    """

    notation: str
    source: str
    options: CompileOptions
    letters: bytes

    def compile(self) -> CompiledGrammar:
        """Compile it anew."""
        return compile_grammar(self.notation, self.source, self.options)

    def compile_twice(self, tally: Tally) -> tuple[CompiledGrammar, CompiledGrammar] | None:
        """Compile it into two automata that share nothing; return None and count it where it is refused."""
        try:
            return self.compile(), self.compile()
        except GrammarError as error:
            codes = [finding.code for finding in error.diagnostics if finding.severity is Severity.ERROR]
            tally.skip(f"refused: {codes[0]}")
            return None

    @property
    def detail(self) -> str:
        """The options that are not the defaults."""
        return f"dialect={self.options.dialect}, whitespace={self.options.whitespace}"


def make_case(rng: random.Random) -> Case:
    """Make a grammar of any notation."""
    chance = rng.random()
    if chance < 0.5:
        maker = Maker(rng, rng.choice(("python", "python", "ecma")))
        letters, node = maker.pattern()
        source = (f"(?{letters})" if letters else "") + write(node)
        return Case("regex", source, CompileOptions(dialect=maker.dialect), "".join(maker.characters).encode())
    if chance < 0.75:
        grammar = make_grammar(rng, depth=0)
        return Case("gbnf", grammar.source, CompileOptions(), "".join(grammar.characters).encode())
    schema = json.dumps(make_schema(rng, 2), ensure_ascii=False)
    return Case("json_schema", schema, CompileOptions(whitespace=rng.choice(("compact", "flexible"))), b'[]{}":,ab01')


def make_schema(rng: random.Random, depth: int) -> Any:
    """Make a schema whose shortest texts are short, often with patterns that look around."""
    chance = rng.random()
    if depth == 0 or chance < 0.4:
        return rng.choice(
            (
                {"enum": rng.sample(["a", "ab", "bb", 1, 10, 0.5, None, True, [], {}, ["a"]], rng.randint(1, 4))},
                {"type": "integer", "minimum": rng.randint(-20, 20), "multipleOf": rng.choice((1, 3, 7))},
                {"type": "number", "exclusiveMaximum": rng.randint(-9, 120)},
                {"type": "string", "minLength": rng.randint(0, 3), "maxLength": rng.randint(3, 5)},
                {"type": "string", "pattern": _pattern(rng), "maxLength": rng.randint(2, 6)},
                {"type": "string", "pattern": _pattern(rng)},
                {"type": ["boolean", "null"]},
            )
        )
    if chance < 0.6:
        items = make_schema(rng, depth - 1)
        counts = {"minItems": rng.randint(0, 3), "uniqueItems": rng.random() < 0.3}
        first = {"prefixItems": [make_schema(rng, depth - 1)]} if rng.random() < 0.3 else {}
        return {"type": "array", "items": items, **counts, **first}
    if chance < 0.8:
        names = rng.sample(["a", "b", "ab", "é"], rng.randint(1, 3))
        properties = {name: make_schema(rng, depth - 1) for name in names}
        required = rng.sample(names, rng.randint(0, len(names)))
        extra = rng.choice(({"additionalProperties": False}, {}, {"minProperties": rng.randint(0, 2)}))
        return {"type": "object", "properties": properties, "required": required, **extra}
    keyword = rng.choice(("anyOf", "oneOf", "allOf"))
    return {keyword: [make_schema(rng, depth - 1) for _ in range(2)]}


def _pattern(rng: random.Random) -> str:
    maker = Maker(rng, "ecma")
    source = write(maker.node(2))
    return f"^(?:{source})$" if rng.random() < 0.7 else source


def make_vocabulary(rng: random.Random, letters: bytes) -> Vocabulary:
    """Make a vocabulary of few tokens: bytes of the grammar and others, pieces of several bytes, mostly an end."""
    pool = [*letters, *letters, *b"ab0_ \xc3\xa9"]
    tokens: list[bytes | None] = [bytes(rng.choices(pool, k=rng.choice((1, 1, 1, 2, 2, 3)))) for _ in range(8)]
    if rng.random() < 0.7:
        tokens += [bytes((byte,)) for byte in sorted(set(letters))[:10]]
    ends = [len(tokens)] if rng.random() < 0.8 else []
    return Vocabulary([*tokens, *([None] * len(ends))], ends)


def check(rng: random.Random, tally: Tally) -> None:
    """Make one grammar and look at completions from several places."""
    case = make_case(rng)
    compiled = case.compile_twice(tally)
    if compiled is None:
        return
    grammar, fresh = compiled
    vocabulary = make_vocabulary(rng, case.letters)
    alphabet = frozenset(rng.sample(sorted({*case.letters, *b'ab01"{}[]'}), 6))
    in_bytes = {known: Search(fresh, [bytes((byte,)) for byte in known or range(256)]) for known in (None, alphabet)}
    in_tokens = Search(fresh, [token for token in vocabulary.tokens if token])
    for _ in range(WALKS):
        _walk_in_bytes(rng, tally, case, grammar, in_bytes)
        _walk_in_tokens(rng, tally, case, Matcher(grammar, vocabulary), in_tokens)


class Search:
    """Finds distances breadth first, by running tokens through an automaton that nothing else uses.

    Args:
        grammar: a compile of its own.
        tokens: what is tried at each place; masks are held against the same in `matcher_steps`.
    """

    def __init__(self, grammar: CompiledGrammar, tokens: Sequence[bytes]) -> None:
        self.automaton = grammar.automaton
        self._tokens = tokens
        self._following: dict[int, tuple[int, ...]] = {}
        self._distances: dict[int, tuple[int | None, int]] = {}

    def at(self, text: bytes) -> int:
        """Return the configuration after a text."""
        return self.automaton.run(self.automaton.start, text)

    def following(self, configuration: int) -> tuple[int, ...]:
        """Return where the tokens lead, each place once."""
        known = self._following.get(configuration)
        if known is None:
            found = dict.fromkeys(self.automaton.run(configuration, token) for token in self._tokens)
            found.pop(DEAD, None)
            known = self._following[configuration] = tuple(found)
        return known

    def distance(self, start: int) -> tuple[int | None, int]:
        """Search for an end.

        Returns:
            How many tokens lead to one at least, None where none was found; and so many do not lead to one for
            certain, `ENDLESS` where everything was looked at.
        """
        known = self._distances.get(start)
        if known is None:
            known = self._distances[start] = self._search(start)
        return known

    def _search(self, start: int) -> tuple[int | None, int]:
        level, seen, steps, length = [start], {start}, 0, 0
        while level:
            if any(map(self.automaton.accepts, level)):
                return length, length - 1
            further: list[int] = []
            for configuration in level:
                steps += configuration not in self._following
                if steps > EFFORT:
                    return None, length
                try:
                    reached = self.following(configuration)
                except LimitExceededError:
                    return None, length
                further += (each for each in reached if each not in seen)
                seen.update(reached)
            level, length = list(dict.fromkeys(further)), length + 1
        return None, ENDLESS


ENDLESS = 1 << 60


def contradiction(least: int | None, most: int | None, true: int | None, none_within: int) -> str:
    """Return in what reported bounds contradict a search; empty where they do not."""
    if true is None and none_within == ENDLESS:
        return "" if most is None else "there is no end, and one is reported"
    if least is None:
        return "" if true is None else f"an end is {true} away, and none is reported"
    if true is not None and not least <= true:
        return f"an end is {true} away, fewer than at least"
    if most is not None and most <= none_within:
        return f"no end is {none_within} or less away, yet at most"
    return ""


# --- in bytes --------------------------------------------------------------------------------------------------------


def _walk_in_bytes(
    rng: random.Random, tally: Tally, case: Case, grammar: CompiledGrammar, searches: Mapping[Alphabet, Search]
) -> None:
    matcher, text = Matcher(grammar, BYTES), b""
    for _ in range(STEPS):
        for alphabet, search in searches.items():
            problem, found = _problem_in_bytes(matcher, search, text, alphabet)
            if problem:
                about = f"{case.detail}; alphabet={alphabet and bytes(sorted(alphabet))!r}; {found}"
                tally.differ("completion", case.notation, case.source, text, f"{problem}; {about}")
            else:
                tally.agree()
        following = [byte for byte in range(256) if matcher.is_allowed(byte)]
        if not following:
            return
        likely = [byte for byte in following if byte in case.letters]
        byte = rng.choice(likely if likely and rng.random() < 0.8 else following)
        matcher.accept(byte)
        text += bytes((byte,))


def _problem_in_bytes(matcher: Matcher, search: Search, text: bytes, alphabet: Alphabet) -> tuple[str, Completion]:
    """Return what is wrong with the completion of a text; empty where nothing is."""
    automaton, here = search.automaton, search.at(text)
    if alphabet is None:
        found = matcher.shortest_completion(REPORTED_EFFORT)
    else:
        found = matcher.grammar.automaton.shortest_completion(matcher.configuration, REPORTED_EFFORT, None, alphabet)
    if matcher.is_accepting != automaton.accepts(here):
        return "is_accepting is not what a fresh compile says", found
    if found.text is not None:
        if not automaton.accepts(search.at(text + found.text)):
            return "the completion is not accepted", found
        if len(found.text) != found.at_most or (alphabet is not None and not alphabet.issuperset(found.text)):
            return "the completion has another length or other bytes than it may", found
    if matcher.is_accepting != (found.at_most == 0) or matcher.is_accepting != (found.at_least == 0):
        return "the distance is 0 exactly where the text may end", found
    return contradiction(found.at_least, found.at_most, *search.distance(here)), found


# --- in tokens -------------------------------------------------------------------------------------------------------


def _walk_in_tokens(rng: random.Random, tally: Tally, case: Case, matcher: Matcher, search: Search) -> None:
    vocabulary, taken = matcher.vocabulary, b""
    reach = BudgetSearch(matcher.grammar, vocabulary)
    ids = [token_id for token_id, token in enumerate(vocabulary.tokens) if token]
    for _ in range(STEPS):
        if matcher.configuration == DEAD:
            return
        here = search.at(taken)
        for problem in (
            _problem_in_tokens(matcher, search, here),
            _problem_of_bounds(reach.distance(matcher.configuration), search.distance(here)),
            _problem_of_budgets(matcher, reach, search, here),
        ):
            if problem:
                about = f"{case.detail}; tokens={vocabulary.tokens}, end={sorted(vocabulary.eos_ids)}"
                tally.differ("completion in tokens", case.notation, case.source, taken, f"{problem}; {about}")
            else:
                tally.agree()
        following = [token_id for token_id in ids if matcher.is_allowed(token_id)]
        if not following:
            return
        token_id = rng.choice(following)
        matcher.accept(token_id)
        taken += vocabulary.tokens[token_id] or b""


def _problem_in_tokens(matcher: Matcher, search: Search, here: int) -> str:
    found = matcher.shortest_token_completion(REPORTED_EFFORT)
    problem = contradiction(found.at_least, found.at_most, *search.distance(here))
    if not problem and found.token_ids is not None:
        end = matcher.fork()
        if len(found.token_ids) != found.at_most or not all(map(end.accept, found.token_ids)) or not end.is_accepting:
            problem = "the tokens do not complete the text"
    if not problem and matcher.is_accepting != (found.at_least == 0):
        problem = "no tokens are needed exactly where the text may end"
    return problem and f"{problem}; {found}"


def _problem_of_bounds(bounds: tuple[int | None, int | None], true: tuple[int | None, int]) -> str:
    problem = contradiction(*bounds, *true)
    return problem and f"{problem}; the budget says at least {bounds[0]}, at most {bounds[1]}"


def _problem_of_budgets(matcher: Matcher, reach: BudgetSearch, search: Search, here: int) -> str:
    for budget in range(BUDGETS):
        found = reach.allowed_within(matcher.configuration, budget)
        for token_id, token in enumerate(matcher.vocabulary.tokens):
            behind = search.automaton.run(here, token) if token else DEAD
            true, none_within = (None, ENDLESS) if behind == DEAD else search.distance(behind)
            if true is not None:
                expected: bool | None = true <= budget
            else:
                expected = False if none_within >= budget else None
            allowed = bool(found.allowed[token_id])
            if expected is not None and allowed != expected and (allowed or found.is_exact):
                return f"token {token_id} within a budget of {budget}: {allowed}, the search says {expected}"
    return ""

"""Numbers of a schema as grammar text.

Without bounds and multiples it is the grammar of RFC 8259, section 6. With them it is the minimal form of the digit
automaton, whose states determine exactly what may follow; with exponents and both bounds, these are thousands, and
`plain` spelling is the readable form.

If multiples are constrained and a fraction is permitted, every digit counts, so `plain` writes those with `MOST_WHOLE`
digits before the point, and as many after it as the divisors have. With exponents they are not written: whether 0.07e2
is a multiple of 7 depends on the number of zeros and on the exponent, which takes more states than a readable text has
rules.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import Final

from engine.automata.dfa.minimise import equivalence_classes
from engine.export.rules.expressions import choice, literal, one_of, optional, repeat, sequence
from engine.export.rules.right_linear import Namer, System, solve
from engine.export.schema.settings import NumberSpelling
from engine.grammar import NEVER, Chars, CharSet, Node
from engine.schema_automaton.number_languages.language import NumberLanguage, fraction
from engine.schema_automaton.number_languages.language import State as NumberState
from engine.schema_automaton.number_languages.magnitudes import decimals
from engine.schema_automaton.number_languages.mantissa import Mantissa, MantissaState
from engine.source import Limits

MOST_EXPLORED: Final = 20_000
MOST_STATES: Final = 2_000
"""The largest number of states of a number's minimal automaton; a larger one is unreadable as text."""

MOST_WHOLE: Final = 15
"""The largest number of digits before the point of a multiple with a fraction, in plain spelling."""

_DIGITS: Final = "0123456789"
_PLAIN: Final = b"-0123456789."
_ALL: Final = b"-0123456789.eE+"


def any_number(spelling: NumberSpelling) -> Node:
    """Return a number in any form that JSON has, or in any form without exponent."""
    some = repeat(one_of(_DIGITS), 1, None)
    whole = sequence(any_integer(), optional(sequence(literal("."), some)))
    if spelling is NumberSpelling.PLAIN:
        return whole
    return sequence(whole, optional(sequence(one_of("eE"), optional(one_of("+-")), some)))


def any_integer() -> Node:
    """Return a number without fraction and exponent."""
    digits = sequence(one_of("123456789"), repeat(one_of(_DIGITS), 0, None))
    return sequence(optional(literal("-")), choice(literal("0"), digits))


def is_any(language: NumberLanguage) -> bool:
    """Return whether a language has no bounds, and no multiples except that of an integer."""
    bounds = (language.minimum, language.exclusive_minimum, language.maximum, language.exclusive_maximum)
    divisors = [Fraction(divisor) for divisor in language.multiple_of]
    plain = all(language.integer and divisor == 1 for divisor in divisors)
    return all(bound is None for bound in bounds) and plain and not language.not_multiple_of


def counts_digits(language: NumberLanguage) -> bool:
    """Return whether a language constrains multiples that may have a fraction."""
    return not language.integer and bool(language.multiple_of or language.not_multiple_of)


def bounded_number(
    language: NumberLanguage, spelling: NumberSpelling, namer: Namer, limits: Limits, *, loops_as_rules: bool
) -> Node:
    """Return the numbers of a language; `Never` if each needs an exponent and exponents are not permitted.

    Args:
        language: the numbers.
        spelling: whether exponents are permitted.
        namer: makes rules of states.
        limits: the limits of the result.
        loops_as_rules: whether a long cycle may stay one.

    Raises:
        LimitExceededError: its automaton is too large to be written.
    """
    symbols = _ALL if spelling is NumberSpelling.ANY and not language.integer else _PLAIN
    rows, accepting = _explored(language, symbols, limits)
    blocks = equivalence_classes(rows, accepting)
    system = System()
    for _ in range(max(blocks) + 1):
        system.add(accepting=False)
    useful = _useful(rows, accepting)
    seen: set[int] = set()
    for state, block in enumerate(blocks):
        if block in seen:
            continue
        seen.add(block)
        system.accepting[block] = accepting[state]
        by_target: dict[int, list[int]] = {}
        for symbol, target in zip(symbols, rows[state], strict=True):
            if target >= 0 and useful[target]:
                by_target.setdefault(blocks[target], []).append(symbol)
        for target, read in by_target.items():
            system.connect(block, Chars(CharSet.of((symbol, symbol) for symbol in read)), target)
    if not useful[0]:
        return NEVER
    limits.check("errors.limit.number_states", len(system.edges), MOST_STATES)
    return solve(system, blocks[0], namer, limits, loops_as_rules=loops_as_rules)


def _explored(language: NumberLanguage, symbols: bytes, limits: Limits) -> tuple[list[list[int]], list[bool]]:
    """Return the rows of the reachable states, the start first (-1: refused), and which states accept."""
    start = language.start
    assert start is not None
    index: dict[NumberState, int] = {start: 0}
    queue = deque([start])
    behind = None
    if symbols is _PLAIN and counts_digits(language):
        behind = max(decimals(fraction(divisor)) for divisor in (*language.multiple_of, *language.not_multiple_of))
    rows: list[list[int]] = []
    accepting: list[bool] = []
    while queue:
        state = queue.popleft()
        row = []
        for symbol in symbols:
            following = language.step(state, symbol)
            if following is None or (behind is not None and _is_long(following, behind)):
                row.append(-1)
                continue
            if following not in index:
                index[following] = len(index)
                limits.check("errors.limit.number_states", len(index), MOST_EXPLORED)
                queue.append(following)
            row.append(index[following])
        rows.append(row)
        accepting.append(language.accepts(state))
    return rows, accepting


def _is_long(state: NumberState, behind: int) -> bool:
    """Return whether there are more digits than are written if each counts, `behind` of them after the point."""
    assert isinstance(state, Mantissa)
    if state.phase in (MantissaState.POINT, MantissaState.FRACTION):
        return state.prefix.length - state.point > behind
    return state.point > MOST_WHOLE


def _useful(rows: list[list[int]], accepting: list[bool]) -> list[bool]:
    """Return which states lead to an end; without exponents, some do not."""
    sources: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in row:
            if target >= 0:
                sources[target].append(state)
    useful = list(accepting)
    todo = [state for state, ends in enumerate(accepting) if ends]
    while todo:
        for source in sources[todo.pop()]:
            if not useful[source]:
                useful[source] = True
                todo.append(source)
    return useful

"""Formats whose automata are too large to write: exact, as rules that count, and approximate, for readers.

As automata, a leap second takes ten thousand states, since it depends on the offset, which comes last; as rules it is
one line for each hour of the offset. A host name limits each of its labels and their sum: if n characters are left, a
label of k of them is followed by what may follow if n - k are left. So there is a rule for each number of characters,
and not for each pair of numbers.

The exact form is too long for people. Plain spelling writes the approximate form, which is a subset of the format.
Where everything becomes one expression, no rule can be shared, and neither form is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from engine.export.rules.expressions import choice, literal, optional, repeat, sequence
from engine.export.rules.rule_builder import RuleBuilder
from engine.grammar import EMPTY, Node
from engine.notations.json_schema.formats.addresses import (
    ANY,
    ATOM,
    EDGE,
    ESCAPED,
    LABEL,
    LITERAL,
    MOST_CHARACTERS,
    MOST_IN_ADDRESS,
    MOST_IN_LABEL,
    MOST_LOCAL,
    QUOTED,
)
from engine.notations.json_schema.formats.pattern_nodes import matching
from engine.notations.json_schema.formats.times import DATE, FRACTION, ORDINARY_TIME, YEAR
from engine.source import Span

FORMATS: Final = frozenset(("date-time", "email", "hostname", "time"))
"""The formats that have these forms."""

_HOURS: Final = range(24)
_MINUTES: Final = range(60)


class ExactFormats:
    """Writes exact formats into one grammar."""

    def __init__(self, builder: RuleBuilder, spelled: Callable[[Node], Node]) -> None:
        """Create a writer.

        Args:
            builder: the grammar's rules.
            spelled: encodes a node over characters as in a JSON string.
        """
        self._builder = builder
        self._spelled = spelled
        self._known: dict[str, Node] = {}

    def node(self, name: str) -> Node:
        """Return the content of a string of a format in `FORMATS`, without its quotes."""
        return self._rule(name, {"date-time": self._date_time, "time": self._time}.get(name) or self._counted(name))

    def _counted(self, name: str) -> Callable[[], Node]:
        return self._host if name == "hostname" else self._mailbox

    # ------------------------------------------------------------------ pieces

    def _rule(self, name: str, make: Callable[[], Node]) -> Node:
        """Return a shared rule of these formats; define it if needed."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._defined(name, make())
        return known

    def _defined(self, name: str, node: Node) -> Node:
        return self._builder.define(self._builder.name(name), node, Span(0, 0))

    def _text(self, text: str) -> Node:
        return self._spelled(literal(text))

    def _pattern(self, pattern: str) -> Node:
        return self._spelled(matching(pattern))

    # ------------------------------------------------------------------ times

    def _time(self) -> Node:
        return choice(self._ordinary_time(), self._leap_on_the_day(), self._leap_on_the_next())

    def _date_time(self) -> Node:
        mark = self._pattern("[Tt]")
        year = sequence(self._rule("year", lambda: self._pattern(YEAR)), self._text("-"))
        last = choice(self._text("06-30"), self._text("12-31"))
        first = choice(self._text("07-01"), self._text("01-01"))
        return choice(
            sequence(self._pattern(DATE), mark, self._ordinary_time()),
            sequence(year, last, mark, self._leap_on_the_day()),
            sequence(year, first, mark, self._leap_on_the_next()),
        )

    def _ordinary_time(self) -> Node:
        return self._rule("ordinary-time", lambda: self._pattern(ORDINARY_TIME))

    def _leap_on_the_day(self) -> Node:
        """Return leap seconds at Greenwich and west of it: 23:59 less the offset."""
        greenwich = sequence(self._text("23:59"), self._second(), choice(self._pattern("[Zz]"), self._text("+00:00")))

        def west() -> Node:
            return choice(
                greenwich,
                *(self._leaps("-", 23 - hour, hour, [(59 - minute, minute) for minute in _MINUTES]) for hour in _HOURS),
            )

        return self._rule("leap-on-the-day", west)

    def _leap_on_the_next(self) -> Node:
        """Return leap seconds east of Greenwich: the offset less a minute, on the next day."""

        def east() -> Node:
            within = [
                self._leaps("+", hour, hour, [(minute - 1, minute) for minute in _MINUTES[1:]]) for hour in _HOURS
            ]
            whole = [self._leaps("+", hour - 1, hour, [(59, 0)]) for hour in _HOURS[1:]]
            return choice(*within, *whole)

        return self._rule("leap-on-the-next-day", east)

    def _leaps(self, sign: str, local: int, hour: int, minutes: list[tuple[int, int]]) -> Node:
        """Return the local times of an hour with a leap second, and the offsets of an hour, by their minutes.

        Args:
            sign: the sign of the offset.
            local: the local hour.
            hour: the hour of the offset.
            minutes: pairs of a local minute and a minute of the offset.
        """

        def between() -> Node:
            return sequence(self._second(), self._text(sign), self._two(hour), self._text(":"))

        offset = self._rule(f"leap-{'west' if sign == '-' else 'east'}-{hour}", between)
        ways = (sequence(self._two(minute), offset, self._two(behind)) for minute, behind in minutes)
        return sequence(self._two(local), self._text(":"), choice(*ways))

    def _second(self) -> Node:
        return self._rule("leap-second", lambda: sequence(self._text(":60"), self._pattern(FRACTION)))

    def _two(self, number: int) -> Node:
        return self._rule(f"two-{number:02}", lambda: self._text(f"{number:02}"))

    # ------------------------------------------------------------------ names

    def _host(self) -> Node:
        edge, within = self._pattern(EDGE), self._pattern(ANY)
        # The third and fourth characters are not both hyphens.
        four = choice(sequence(edge, within, within, edge), sequence(edge, within, edge, self._text("-")))

        def label(length: int) -> Node:
            if length < 5:
                return edge if length == 1 else sequence(edge, *[within] * (length - 2), edge)
            return sequence(four, repeat(within, length - 5, length - 5), edge)

        return self._dotted("host", label, range(MOST_CHARACTERS, MOST_CHARACTERS + 1))[0]

    def _mailbox(self) -> Node:
        edge, within = self._pattern(EDGE), self._pattern(ANY)

        def label(length: int) -> Node:
            return edge if length == 1 else sequence(edge, repeat(within, length - 2, length - 2), edge)

        sign, literal = self._text("@"), self._defined("mail-literal", self._pattern(LITERAL))
        lefts = range(MOST_IN_ADDRESS - MOST_LOCAL - 1, MOST_IN_ADDRESS - 1)
        # What follows a local part of 64 characters, of 63 and so on. Every address literal is short enough.
        domains = [sequence(sign, choice(name, literal)) for name in self._dotted("mail", label, lefts)]
        quote, atom = self._text('"'), self._pattern(f"[{ATOM}]")
        item, escaped = self._pattern(f"[{QUOTED}]"), self._pattern(ESCAPED)
        quoted = self._of_one_or_two("quoted", item, escaped, [sequence(quote, domain) for domain in domains[:-1]])
        atoms = self._of_one_or_two("local", atom, sequence(self._text("."), atom), domains)
        return choice(sequence(atom, atoms), sequence(quote, quoted))

    def _of_one_or_two(self, name: str, one: Node, two: Node, after: Sequence[Node]) -> Node:
        """Return pieces of one and of two characters, and what follows them.

        Args:
            name: the first part of the rules' names.
            one: a piece of one character.
            two: a piece of two characters.
            after: what follows the pieces, by the number of characters that could still have come; the last is for
                no pieces at all.
        """
        nodes: list[Node] = [after[0]]
        for left in range(1, len(after)):
            pieces = [sequence(one, nodes[left - 1]), *([sequence(two, nodes[left - 2])] if left > 1 else [])]
            nodes.append(self._defined(f"{name}-{left}", choice(*pieces, after[left])))
        return nodes[-1]

    def _dotted(self, name: str, label: Callable[[int], Node], lengths: range) -> list[Node]:
        """Return labels with dots between them, of at most so many characters, for each of some lengths."""
        labels = [self._defined(f"{name}-label-{length}", label(length)) for length in range(1, MOST_IN_LABEL + 1)]
        dot = self._text(".")
        after: list[Node] = [EMPTY, EMPTY]  # by the number of characters left
        names: list[Node] = []
        for left in range(1, lengths[-1] + 1):
            within = range(1, min(left, MOST_IN_LABEL) + 1)
            node = choice(*(sequence(labels[length - 1], after[left - length]) for length in within))
            if left in lengths:
                names.append(node if len(lengths) == 1 else self._defined(f"{name}-name-{left}", node))
                node = names[-1]
            if left < lengths[-1] - 1:
                after.append(self._defined(f"{name}-{left + 1}", optional(sequence(dot, node))))
        return names


# ---------------------------------------------------------------------- approximate forms

_HOUR: Final = r"(?:[01]\d|2[0-3])"
_TIME: Final = rf"{_HOUR}:[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]{_HOUR}:[0-5]\d)"

# 3 labels of 63 characters, or 8 of 30, stay below 253 characters with their dots.
_SHORT_LABEL: Final = LABEL.replace("{0,58}", "{0,25}")
_HOST: Final = rf"(?:{LABEL}(?:\.{LABEL}){{0,2}}|{_SHORT_LABEL}(?:\.{_SHORT_LABEL}){{3,7}})"

# A mailbox has at most 64 characters before the sign, dots included, and 254 in total: 2 labels of 63, 4 of 46 and 8 of
# 22 have at most 189 with their dots.
_ATOM: Final = r"[A-Za-z0-9!\#$%&'*+\-/=?\^_`{|}~]"
_LOCAL: Final = rf"(?:{_ATOM}{{1,64}}|{_ATOM}{{1,31}}\.{_ATOM}{{1,31}}|{_ATOM}{{1,15}}(?:\.{_ATOM}{{1,15}}){{2,3}})"


def _mail_name(most_in_label: int, fewest_dots: int, most_dots: int) -> str:
    label = rf"[A-Za-z0-9](?:[A-Za-z0-9\-]{{0,{most_in_label - 2}}}[A-Za-z0-9])?"
    return rf"{label}(?:\.{label}){{{fewest_dots},{most_dots}}}"


_DOMAIN: Final = f"(?:{_mail_name(63, 0, 1)}|{_mail_name(46, 2, 3)}|{_mail_name(22, 4, 7)})"


_APPROXIMATE: Final = {
    "date-time": rf"{DATE}[Tt]{_TIME}",
    "time": _TIME,
    "hostname": _HOST,
    "email": f"{_LOCAL}@{_DOMAIN}",
}


@cache
def approximate_format(name: str) -> Node:
    """Return the strings of a format in its approximate form."""
    return matching(_APPROXIMATE[name])

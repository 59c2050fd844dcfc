"""The token view of one state: where the tokens that may come next lead, as a drawing."""

from __future__ import annotations

from dataclasses import dataclass

from app.display_text import percent, percent_brief
from app.graph.chart import Chart
from app.graph.layout.types import EdgeKey
from app.workers.decode_messages import TokensAnswer, TokensTo
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState

MOST_PLACES = 24
_EXAMPLES, _LONGEST = 4, 18


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """One place that tokens lead to.

    Attributes:
        name: how it is called.
        state: its number in the automaton; None where it has none.
        examples: some of the tokens, as a person reads them.
        count: how many there are.
        mass: the model's probability of all of them together; None where no model was asked.
    """

    name: str
    state: int | None
    examples: tuple[str, ...]
    count: int
    mass: float | None

    def says(self) -> str:
        """How many tokens, and how probable."""
        return counted(self.count, self.mass)


@dataclass(frozen=True, slots=True)
class TokenMap:
    """The tokens of one state: a star of places.

    Attributes:
        chart: the state as number 0, the places behind it; a place that is the state itself is a loop.
        places: what is in the drawing, and what was too much for it.
        total: how many tokens are allowed.
    """

    chart: Chart
    places: tuple[TokenPlace, ...]
    total: int


def token_map(answer: TokensAnswer, dfa: ByteDfa | None, state: int | None, centre: str) -> TokenMap:
    """Draw up what was answered.

    Args:
        answer: the tokens, grouped.
        dfa: the automaton that the state is of; None where places have no number.
        state: the state; None for no number.
        centre: how it is called.
    """
    places = _places(answer.groups, dfa, state)
    drawn = [place for place in places if place.state is None or place.state != state][:MOST_PLACES]
    loops = [place for place in places if place.state is not None and place.state == state]
    accepting = {place.state for place in drawn if dfa is not None and place.state is not None}
    states = [DfaState(0, _accepts(dfa, state))]
    words: dict[EdgeKey, tuple[str, ...]] = {}
    for number, place in enumerate(drawn, start=1):
        states.append(DfaState(number, place.state in accepting and _accepts(dfa, place.state)))
        words[0, number] = _lines(place)
    names = [centre, *(place.name for place in drawn)]
    rest = len(places) - len(drawn) - len(loops)
    if rest:
        states.append(DfaState(len(states), accepting=False))
        words[0, len(states) - 1] = (f"{rest} more places",)
        names.append("…")
    if loops:
        words[0, 0] = _lines(loops[0])
    edges = tuple(DfaEdge(*key, ()) for key in sorted(words))
    return TokenMap(Chart(ByteDfa(0, tuple(states), edges), names=tuple(names), words=words), places, answer.total)


def counted(count: int, mass: float | None) -> str:
    """A number of tokens and their probability: `1,204 tokens · 63%`."""
    said = f"{count:,} token{'' if count == 1 else 's'}"
    return said if mass is None else f"{said} · {percent(mass)}"


def counted_briefly(count: int, mass: float | None) -> str:
    """The same where there is little room: `1,204 · 63%`."""
    return f"{count:,}" if mass is None else f"{count:,} · {percent_brief(mass)}"


def _places(groups: tuple[TokensTo, ...], dfa: ByteDfa | None, state: int | None) -> tuple[TokenPlace, ...]:
    """By the states of the automaton, in which several places of the runtime may be one."""
    found: dict[object, TokenPlace] = {}
    for group in groups:
        target = dfa.run(group.example, state) if dfa is not None and state is not None else None
        name = f"after {group.shown[0]}" if target is None else str(target)
        key: object = group if target is None else target
        before = found.get(key)
        if before is None:
            found[key] = TokenPlace(name, target, group.shown, group.count, group.mass)
        else:
            mass = None if group.mass is None or before.mass is None else before.mass + group.mass
            shown = (*before.examples, *group.shown)[:12]
            found[key] = TokenPlace(name, target, shown, before.count + group.count, mass)
    return tuple(sorted(found.values(), key=lambda place: (-(place.mass or 0.0), -place.count)))


def _lines(place: TokenPlace) -> tuple[str, ...]:
    shown = [text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…" for text in place.examples[:_EXAMPLES]]
    more = "  …" if place.count > len(shown) else ""
    return ("  ".join(shown) + more, place.says())


def _accepts(dfa: ByteDfa | None, state: int | None) -> bool:
    return dfa is not None and state is not None and dfa.states[state].accepting

"""The token view of one state: the targets of the allowed tokens, as a drawing."""

from __future__ import annotations

from dataclasses import dataclass

from app.display_text import percent, percent_brief
from app.graph.layout.types import EdgeKey
from app.graph.match.folding import Chart
from app.workers.decode_messages import TokensAnswer, TokensTo
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState

MAX_TARGETS = 24
_EXAMPLES, _LONGEST = 4, 18


@dataclass(frozen=True, slots=True)
class TokenTarget:
    """A target of tokens.

    Attributes:
        name: its name.
        state: its number in the automaton; None if it has none.
        examples: some of the tokens as displayed text.
        count: the number of tokens.
        mass: their total probability; None if no model was used.
    """

    name: str
    state: int | None
    examples: tuple[str, ...]
    count: int
    mass: float | None

    def amount(self) -> str:
        """Return the number of tokens, and their probability."""
        return token_count_text(self.count, self.mass)


@dataclass(frozen=True, slots=True)
class TokenMap:
    """The tokens of one state: a star of targets.

    Attributes:
        chart: the state as number 0, and its targets; the state itself as a target is a loop.
        targets: the targets, including those that are not drawn.
        total: the number of allowed tokens.
    """

    chart: Chart
    targets: tuple[TokenTarget, ...]
    total: int


def token_map(answer: TokensAnswer, dfa: ByteDfa | None, state: int | None, centre: str) -> TokenMap:
    """Create the token view of an answer.

    Args:
        answer: the tokens, grouped.
        dfa: the automaton of the state; None if targets have no number.
        state: the state; None for no number.
        centre: its name.
    """
    targets = _merged_targets(answer.groups, dfa, state)
    drawn = [target for target in targets if target.state is None or target.state != state][:MAX_TARGETS]
    loops = [target for target in targets if target.state is not None and target.state == state]
    accepting = {target.state for target in drawn if dfa is not None and target.state is not None}
    states = [DfaState(0, _accepts(dfa, state))]
    words: dict[EdgeKey, tuple[str, ...]] = {}
    for number, target in enumerate(drawn, start=1):
        states.append(DfaState(number, target.state in accepting and _accepts(dfa, target.state)))
        words[0, number] = _lines(target)
    names = [centre, *(target.name for target in drawn)]
    rest = len(targets) - len(drawn) - len(loops)
    if rest:
        states.append(DfaState(len(states), accepting=False))
        words[0, len(states) - 1] = (f"{rest} more states",)
        names.append("…")
    if loops:
        words[0, 0] = _lines(loops[0])
    edges = tuple(DfaEdge(*key, ()) for key in sorted(words))
    return TokenMap(Chart(ByteDfa(0, tuple(states), edges), names=tuple(names), words=words), targets, answer.total)


def token_count_text(count: int, mass: float | None) -> str:
    """Return a number of tokens and their probability: `1,204 tokens · 63%`."""
    text = f"{count:,} token{'' if count == 1 else 's'}"
    return text if mass is None else f"{text} · {percent(mass)}"


def short_token_count(count: int, mass: float | None) -> str:
    """Return the short form: `1,204 · 63%`."""
    return f"{count:,}" if mass is None else f"{count:,} · {percent_brief(mass)}"


def _merged_targets(groups: tuple[TokensTo, ...], dfa: ByteDfa | None, state: int | None) -> tuple[TokenTarget, ...]:
    """Merge groups with the same state of the minimal automaton."""
    found: dict[object, TokenTarget] = {}
    for group in groups:
        target = dfa.run(group.example, state) if dfa is not None and state is not None else None
        name = f"after {group.shown[0]}" if target is None else str(target)
        key: object = group if target is None else target
        before = found.get(key)
        if before is None:
            found[key] = TokenTarget(name, target, group.shown, group.count, group.mass)
        else:
            mass = None if group.mass is None or before.mass is None else before.mass + group.mass
            shown = (*before.examples, *group.shown)[:12]
            found[key] = TokenTarget(name, target, shown, before.count + group.count, mass)
    return tuple(sorted(found.values(), key=lambda target: (-(target.mass or 0.0), -target.count)))


def _lines(target: TokenTarget) -> tuple[str, ...]:
    shown = [text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…" for text in target.examples[:_EXAMPLES]]
    more = "  …" if target.count > len(shown) else ""
    return ("  ".join(shown) + more, target.amount())


def _accepts(dfa: ByteDfa | None, state: int | None) -> bool:
    return dfa is not None and state is not None and dfa.states[state].accepting

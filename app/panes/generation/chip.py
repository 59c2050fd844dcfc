"""What the chips of an output say, worked out from a trace; no widget is needed for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial

from app.models.wording import count, percent, token_text
from engine.decoding.values import FormerBranch, Step, Trace, TraceNode


class ChipKind(StrEnum):
    """How a chip is drawn."""

    TAKEN = "taken"
    FORCED = "forced"  # the grammar left no choice
    ILLEGAL = "illegal"  # the present grammar does not allow it
    PLAIN = "plain"  # part of a prompt: nobody decided it


@dataclass(frozen=True, slots=True)
class Chip:
    """One token of an output.

    Attributes:
        id: what a click reports: a step's id in the trace.
        text: the token, made visible.
        kind: how it is drawn.
        p: the model's probability, before the mask.
        is_name: whether the text is a special token's name.
        by_user: whether the user chose it, not the sampler.
        ahead: whether it lies beyond the current step: it was undone, and can be gone to.
        breaks: whether the text goes on in a new line after it.
        tip: makes its tool tip; writing thousands that nobody reads would cost more than drawing the chips.
    """

    id: int
    text: str
    kind: ChipKind = ChipKind.PLAIN
    p: float = 0.0
    is_name: bool = False
    by_user: bool = False
    ahead: bool = False
    breaks: bool = False
    tip: Callable[[], str] = str


def chips_of(trace: Trace) -> tuple[tuple[Chip, ...], int | None]:
    """The chips of the shown branch, and the index of the current one (None before the first step)."""
    nodes = {node.id: node for node in trace.nodes}
    current = trace.path.index(trace.current) if trace.current in trace.path else None
    last = -1 if current is None else current
    chips = tuple(
        _chip(nodes[node_id], index, ahead=index > last, illegal=node_id in trace.illegal)
        for index, node_id in enumerate(trace.path)
    )
    return chips, current


def former_chips(former: FormerBranch) -> tuple[Chip, ...]:
    """The chips of an output that can only be read."""
    return tuple(
        _chip(TraceNode(index, None, step), index, ahead=False, illegal=False, can_be_gone_to=False)
        for index, step in enumerate(former.steps)
    )


def prompt_chips(tokens: tuple[tuple[int, str], ...]) -> tuple[Chip, ...]:
    """The chips of a prompt as the model sees it: pairs of token id and shown text."""
    return tuple(
        Chip(index, text, tip=partial("{}   id {}".format, text, token_id))
        for index, (token_id, text) in enumerate(tokens)
    )


@lru_cache(maxsize=8_192)  # a step adds one chip to hundreds that stay as they are
def _chip(node: TraceNode, index: int, *, ahead: bool, illegal: bool, can_be_gone_to: bool = True) -> Chip:
    step = node.step
    kind = ChipKind.ILLEGAL if illegal else ChipKind.FORCED if step.forced else ChipKind.TAKEN
    return Chip(
        id=node.id,
        text=token_text(step.token, step.name, step.token_id),
        kind=kind,
        p=step.p,
        is_name=bool(step.name),
        by_user=step.chosen_by == "user",
        ahead=ahead,
        breaks=step.token is not None and step.token.endswith(b"\n"),
        tip=partial(_tip, step, index, illegal=illegal, can_be_gone_to=can_be_gone_to),
    )


def _tip(step: Step, index: int, *, illegal: bool, can_be_gone_to: bool) -> str:
    lines = [f"step {index + 1}: {token_text(step.token, step.name, step.token_id)}   id {step.token_id}"]
    if illegal:
        lines.append("the present grammar does not allow it")
    elif step.forced:
        lines.append(f"forced: the only token allowed; the model gave it {percent(step.p)}")
    else:
        lines.append(f"model {percent(step.p)}, after the mask {percent(step.p_masked)}")
        lines.append(f"{count(step.allowed, 'token')} allowed, with {percent(step.z)} of the model's mass")
    if step.wanted_id != step.token_id:
        lines.append(f"the model's favourite was token #{step.wanted_id}")
    lines.append("chosen by you" if step.chosen_by == "user" else "drawn by the sampler")
    if can_be_gone_to:
        lines.append("Click goes back here")
    return "\n".join(lines)

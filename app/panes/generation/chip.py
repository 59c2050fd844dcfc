"""The data of the chips of an output, computed from a trace without widgets."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from app import theme
from app.catalogue import ui_text
from app.display_text import duration, percent, percent_between, shown, token_text, unmarked
from app.theme.labels import plain_text
from app.widgets.rich_text import code
from app.workers.requests.decode import Respelling
from engine.decoding.values import ArchivedBranch, Step, StepOrigin, TopToken, Trace, TraceNode
from engine.source.text import quoted

Role = theme.Role
_BAR = 72  # pixels of a probability of 1


class ChipKind(StrEnum):
    """How a chip is drawn."""

    TAKEN = "taken"
    FORCED = "forced"  # the grammar left no choice
    ILLEGAL = "illegal"  # the current grammar does not allow it
    REPLAYED = "replayed"  # no model was called: there is no p
    FAST_FORWARDED = "fast-forwarded"  # taken as part of a forced run: no model was called either
    PLAIN = "plain"  # part of a prompt, without a decision


@dataclass(frozen=True, slots=True)
class Chip:
    """One token of an output.

    Attributes:
        id: what a click reports: a step's id in the trace.
        text: the token as text.
        kind: how it is drawn.
        p: the model's probability, before the mask; None if no model was called.
        allowed: how many tokens the grammar allowed; 0 without a step.
        time_ms: how long the model and the mask took; None if unknown.
        is_partial: whether its bytes begin or end within a character.
        is_name: whether the text is a special token's name.
        by_user: whether the user chose it, not the sampler.
        ahead: whether it is after the current step: it was undone and can be redone.
        breaks: whether a new line begins after it.
        is_respelled: whether the tokenizer would write it, with its neighbours, in other tokens.
        tip: builds its tool tip on demand; building thousands would cost more than drawing the chips.
    """

    id: int
    text: str
    kind: ChipKind = ChipKind.PLAIN
    p: float | None = 0.0
    allowed: int = 0
    time_ms: float | None = None
    is_partial: bool = False
    is_name: bool = False
    by_user: bool = False
    ahead: bool = False
    breaks: bool = False
    is_respelled: bool = False
    tip: Callable[[], str] = str


ChipCache: TypeAlias = list[tuple[TraceNode, bool, bool, Chip]]
"""Cached chips along the path: node, whether it is ahead, whether it is illegal, chip."""


def chips_of(trace: Trace, known: ChipCache | None = None) -> tuple[tuple[Chip, ...], int | None]:
    """Return the chips of the shown branch, and the index of the current one (None before the first step).

    Args:
        trace: the trace.
        known: the chips of the previous trace, updated in place. A step changes one or two chips of hundreds, and a
            node that is the same object has the same chip; comparing by value takes longer than drawing.
    """
    known = [] if known is None else known
    nodes = {node.id: node for node in trace.nodes}
    current = trace.path.index(trace.current) if trace.current in trace.path else None
    last = -1 if current is None else current
    del known[len(trace.path) :]
    for index, node_id in enumerate(trace.path):
        node, ahead, illegal = nodes[node_id], index > last, node_id in trace.illegal
        if index < len(known):
            cached = known[index]
            if cached[0] is node and cached[1] is ahead and cached[2] is illegal:
                continue
            known[index] = node, ahead, illegal, _chip(node, index, ahead=ahead, illegal=illegal)
        else:
            known.append((node, ahead, illegal, _chip(node, index, ahead=ahead, illegal=illegal)))
    return tuple(entry[3] for entry in known), current


def respelled_chip(chip: Chip, part: Respelling) -> Chip:
    """Return a chip of a part of the output that the tokenizer would write in other tokens."""
    return replace(chip, is_respelled=True, tip=partial(_respelled_tip, chip, part))


def _respelled_tip(chip: Chip, part: Respelling) -> str:
    tokens = " ".join(quoted(shown(token)) for token in part.tokens)
    name = "unknown" if part.p_most is None else "exact" if part.is_exact else "at_most"
    fields = {"tokens": tokens, "count": part.end - part.first, "p": percent(part.p_most)}
    line, tip = unmarked(ui_text(f"generation.chip.respelled.{name}", **fields)), chip.tip()
    if not tip.startswith("<qt>"):
        return plain_text(f"{tip}\n{line}")
    return tip.replace("<qt>", f"<qt>{html.escape(line)}<br>", 1)


def archived_chips(archived: ArchivedBranch) -> tuple[Chip, ...]:
    """Return the chips of an output that can only be read."""
    return tuple(
        _chip(
            TraceNode(index, None, step),
            index,
            ahead=False,
            illegal=step.origin == StepOrigin.FORCED_BY_USER,
            can_be_gone_to=False,
        )
        for index, step in enumerate(archived.steps)
    )


def prompt_chips(tokens: tuple[tuple[int, str], ...]) -> tuple[Chip, ...]:
    """Return the chips of a prompt as the model sees it: pairs of token id and text."""
    return tuple(
        Chip(index, text, tip=partial(_prompt_tip, text, token_id)) for index, (token_id, text) in enumerate(tokens)
    )


def _prompt_tip(text: str, token_id: int) -> str:
    return ui_text("generation.chip.prompt_token", token=text, token_id=token_id)


def _chip(node: TraceNode, index: int, *, ahead: bool, illegal: bool, can_be_gone_to: bool = True) -> Chip:
    step = node.step
    kind = ChipKind.REPLAYED if step.origin == StepOrigin.REPLAYED else ChipKind.TAKEN
    kind = (
        ChipKind.FAST_FORWARDED
        if step.origin == StepOrigin.FAST_FORWARDED
        else ChipKind.FORCED
        if step.forced
        else kind
    )
    kind = ChipKind.ILLEGAL if illegal else kind
    return Chip(
        id=node.id,
        text=token_text(step.token, step.name, step.token_id),
        kind=kind,
        p=step.p if step.was_queried else None,
        allowed=step.allowed,
        time_ms=time_of(step),
        is_partial=_is_partial(step.token),
        is_name=bool(step.name),
        by_user=step.origin in (StepOrigin.USER, StepOrigin.FORCED_BY_USER),
        ahead=ahead,
        breaks=step.token is not None and step.token.endswith(b"\n"),
        tip=partial(_tip, step, index, illegal=illegal, can_be_gone_to=can_be_gone_to),
    )


def time_of(step: Step) -> float | None:
    """Return how long the model and the mask took for a step, in ms; None if unknown."""
    if step.logits_ms is None or step.mask_us is None:
        return None
    return step.logits_ms + step.mask_us / 1000


def _is_partial(token: bytes | None) -> bool:
    try:
        (token or b"").decode()
    except UnicodeDecodeError:
        return True
    return False


def _tip(step: Step, index: int, *, illegal: bool, can_be_gone_to: bool) -> str:
    token = token_text(step.token, step.name, step.token_id)
    lines = [ui_text("generation.chip.step", step=index + 1, token=token, token_id=step.token_id)]
    if _is_partial(step.token) and step.token is not None:
        lines.append(ui_text("generation.chip.partial", bytes=step.token.hex(" ").upper()))
    if step.origin == StepOrigin.FORCED_BY_USER:
        lines.append(ui_text("common.step.forced_by_user"))
    elif illegal:
        lines.append(ui_text("generation.chip.illegal"))
    elif step.forced:
        only = ui_text("common.step.forced")
        text = ui_text("generation.chip.forced_model", forced=only, p=percent(step.p)) if step.was_queried else only
        lines.append(text)
    elif step.was_queried:
        masked = percent(None) if step.masked_range is None else percent_between(*step.masked_range)
        lines.append(ui_text("generation.chip.model", p=percent(step.p), masked=masked))
        mass = percent(None) if step.z_range is None else percent_between(*step.z_range)
        lines.append(ui_text("generation.chip.allowed_mass", count=step.allowed, mass=mass))
    elif step.allowed:  # unknown after an illegal step of a pasted output
        lines.append(ui_text("generation.chip.allowed", count=step.allowed))
    lines += _origin_lines(step)
    if can_be_gone_to:
        is_refused = illegal and step.origin != StepOrigin.FORCED_BY_USER
        lines.append(ui_text("generation.chip.click_why" if is_refused else "generation.chip.click"))
    return tip_with_top_tokens("\n".join(lines), step)


def _origin_lines(step: Step) -> list[str]:
    if step.origin == StepOrigin.FAST_FORWARDED:
        return [ui_text("common.step.fast_forwarded")]
    if step.origin == StepOrigin.REPLAYED:
        return [ui_text("common.step.replayed")]
    if step.origin == StepOrigin.RECORDED:
        return [ui_text("common.step.recorded")]
    lines = []
    if step.wanted_id != step.token_id and not step.top:
        lines.append(ui_text("generation.chip.top_choice", token_id=step.wanted_id))
    if (took := time_of(step)) is not None:
        mask = duration((step.mask_us or 0.0) / 1e6)
        lines.append(ui_text("generation.chip.time", time=duration(took / 1e3), mask=mask))
    if step.recorded is not None:
        lines.append(ui_text("generation.chip.recorded", p=percent(step.recorded.p)))
    by = {StepOrigin.SAMPLER: "sampler", StepOrigin.SOURCE: "source"}.get(step.origin, "user")
    return [*lines, ui_text(f"generation.chip.origin.{by}")]


def tip_with_top_tokens(text: str, step: Step) -> str:
    """Return a tool tip: lines of text, and the model's top tokens at the step if they were kept."""
    if not step.top:
        return plain_text(text)
    rows = "".join(_row(one, taken=one.token_id == step.token_id) for one in step.top)
    lines = html.escape(text).replace("\n", "<br>")
    title = html.escape(ui_text("generation.chip.top_tokens"))
    return f"<qt>{lines}<br><br>{title}<table cellspacing='0' cellpadding='2'>{rows}</table></qt>"


def _row(one: TopToken, *, taken: bool) -> str:
    theme_now = theme.current()
    role = Role.TEXT if one.allowed else Role.MUTED
    bar = max(1, round(_BAR * one.p))
    colour = theme_now.hex(Role.BAR_MASKED if one.allowed else Role.BAR_MODEL)
    token = code(token_text(one.token, one.name, one.token_id), role, struck=not one.allowed)
    name = "taken" if taken else "" if one.allowed else "masked"
    verdict = ui_text(f"common.fragment.{name}") if name else ""
    share = html.escape(percent(one.p))
    strip = f"<tr><td width='{bar}' height='9' bgcolor='{colour}'></td></tr>"
    return (
        f"<tr><td>{token}</td><td align='right'>&nbsp;{share}&nbsp;</td><td width='{_BAR + 8}' valign='middle'>"
        f"<table cellspacing='0' cellpadding='0'>{strip}</table></td><td>{verdict}</td></tr>"
    )

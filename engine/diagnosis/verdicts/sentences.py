"""The sentence of a verdict, and further notes."""

from __future__ import annotations

from engine.diagnosis.verdicts.relaxed_options import UnusualForm
from engine.diagnosis.verdicts.verdict import (
    CompletionBudget,
    Failure,
    OutputLoop,
    ReplayedTokenState,
    TokenOrigin,
    Verdict,
    VerdictOutcome,
    position_of_byte,
)
from engine.diagnosis.verdicts.wrappers import SurroundingText, prefix_kind, suffix_kind
from engine.document.saved_traces import CONTEXT, LENGTH, STOP
from engine.matching.explanation_text import MOST_PROPERTIES, culprit, listed, location_text
from engine.source import Severity, SourceText
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted
from engine.vocabulary.visible import visible

LONGEST_EXCERPT = 40


def verdict_sentence(found: Verdict, source: SourceText, finish: str = "") -> str:
    """Describe a verdict in one sentence.

    Args:
        found: the verdict.
        source: the grammar's source.
        finish: why the generation ended.
    """
    match found.outcome:
        case VerdictOutcome.COMPLETE:
            return _complete(found)
        case VerdictOutcome.CUT_OFF:
            return _cut_off(found, finish)
        case VerdictOutcome.LOOPS:
            return _loops(found, source)
        case VerdictOutcome.ILLEGAL:
            return _illegal(found, source)
        case VerdictOutcome.TEXT_AFTER:
            return _text_after(found)
        case VerdictOutcome.TEXT_BEFORE:
            return _text_before(found)
        case VerdictOutcome.FOREIGN:
            return _foreign(found)
        case VerdictOutcome.EMPTY_LANGUAGE:
            return catalogue_text("verdicts.empty.text")
        case VerdictOutcome.GRAMMAR_ERROR:
            return found.sentence


def verdict_notes(found: Verdict, source: SourceText, finish: str = "", *, is_schema: bool = False) -> tuple[str, ...]:
    """Return further notes on a verdict, most useful first.

    Args:
        found: the verdict.
        source: the grammar's source.
        finish: why the generation ended.
        is_schema: whether the grammar is a JSON Schema.
    """
    notes = [
        *_on_ending(found, finish),
        *_on_failure(found, source),
        *_on_around(found),
        *_on_cut(found),
        *_on_loops(found, source, is_schema=is_schema),
        *_on_spelling(found),
        *_on_grammar(found, source),
    ]
    return tuple(note for note in notes if note)


def unusual_form_note(data: bytes, found: UnusualForm) -> str:
    """Describe a form of a string or number that is accepted only in outputs from elsewhere."""
    place = position_of_byte(data, found.start)
    written = data[found.start : found.end].decode("utf-8", "replace")
    where = {"text": quoted(written), "line": place.line, "column": place.column, "byte": found.start}
    if not found.is_number:
        return catalogue_text("verdicts.unusual.string", **where)
    if found.plain and found.plain != written:
        return catalogue_text("verdicts.unusual.number_as", **where, plain=quoted(found.plain))
    return catalogue_text("verdicts.unusual.number", **where)


# ---------------------------------------------------------------------------------------------------------- sentences


def _complete(found: Verdict) -> str:
    if not found.data:
        return catalogue_text("verdicts.complete.empty")
    return catalogue_text("verdicts.complete.text", size=_length(found))


def _cut_off(found: Verdict, finish: str) -> str:
    ending = found.ending
    assert ending is not None
    where = _end_of(found)
    is_counted = (
        ending.budget is not None
        and ending.used is not None
        and ending.least_tokens is not None
        and not _is_longer_than_budget(ending, finish)
    )
    # A text that is split again may have fewer tokens than the server counted: its finish reason decides.
    was_cut = finish in (LENGTH, CONTEXT)
    is_within = is_counted and (ending.left or 0) >= (ending.least_tokens or 0)
    if is_counted and finish != STOP and not (was_cut and is_within):
        assert ending.least_tokens is not None
        needed = _at_least(ending.least_tokens, ending.most_tokens)
        left = ending.left or 0
        if is_within:
            return catalogue_text("verdicts.cut_off.early", where=where, needed=needed, left=left)
        if finish == CONTEXT:
            return catalogue_text("verdicts.cut_off.context", where=where, needed=needed)
        return catalogue_text("verdicts.cut_off.budget", where=where, needed=needed, left=left)
    cause = {LENGTH: "by_budget", CONTEXT: "by_context", STOP: "by_itself"}.get(finish, "open")
    return catalogue_text(f"verdicts.cut_off.{cause}", where=where, needs=_needs(ending))


def _is_longer_than_budget(ending: CompletionBudget, finish: str) -> bool:
    """Return whether the output has more tokens than the budget, so that they are not those that the server counted."""
    return finish != CONTEXT and ending.budget is not None and (ending.used or 0) > ending.budget


def _needs(ending: CompletionBudget) -> str:
    if ending.is_dead_end:
        return catalogue_text("verdicts.fragment.needs.dead_end")
    least, most, text = ending.in_bytes.at_least, ending.in_bytes.at_most, ending.in_bytes.text
    shown = f" ({quoted(_short(text))})" if text else ""
    tokens = ending.least_tokens
    if tokens is not None and (ending.most_tokens is not None or most is None or tokens <= most):
        needed = _at_least(tokens, ending.most_tokens)
        count = 1 if needed == "1" else 2
        return catalogue_text("verdicts.fragment.needs.tokens", count=count, needed=needed, shown=shown)
    if least is None:
        return catalogue_text("verdicts.fragment.needs.token")
    needed = _at_least(least, most)
    count = 1 if needed == "1" else 2
    # More tokens than bytes: the search stopped early, and the vocabulary may have no encoding at all.
    unspelled = "" if tokens is None else catalogue_text("verdicts.fragment.needs.unspelled", tokens=tokens)
    return catalogue_text("verdicts.fragment.needs.bytes", count=count, needed=needed, shown=shown, unspelled=unspelled)


def _loops(found: Verdict, source: SourceText) -> str:
    circle = next(one for one in reversed(found.loops) if one.at_end)
    first, last = circle.range
    place = location_text(circle.spans, source)
    where = catalogue_text("verdicts.fragment.where.grammar", place=place) if place else ""
    return catalogue_text("verdicts.loops.text", count=last - first, where=where)


def _illegal(found: Verdict, source: SourceText) -> str:
    failure = found.failure
    assert failure is not None
    where, what = _failed_at(failure), _what_failed(found)
    if failure.missing:
        return catalogue_text("verdicts.illegal.missing", where=where, what=what, names=_named(failure.missing))
    before = found.data[max(0, found.legal - LONGEST_EXCERPT) : found.legal]
    after = catalogue_text("verdicts.illegal.fragment.after", text=quoted(_tail(before))) if before else ""
    by = _by(failure, source)
    expected = _expected(failure)
    return catalogue_text("verdicts.illegal.text", where=where, what=what, after=after, expected=expected, by=by)


def _text_after(found: Verdict) -> str:
    rest = found.data[found.legal :]
    return catalogue_text("verdicts.around.after", where=_end_of(found), what=_kind_and_text(suffix_kind(rest), rest))


def _text_before(found: Verdict) -> str:
    assert found.skipped is not None
    front, end = found.skipped
    what = _kind_and_text(prefix_kind(found.data[:front]), found.data[:front])
    if end < len(found.data):
        rest = catalogue_text(f"verdicts.around.fragment.{suffix_kind(found.data[end:])}")
        return catalogue_text("verdicts.around.before_and_after", what=what, front=front, end=end, rest=rest)
    if found.failure is not None:
        return catalogue_text(
            "verdicts.around.before_illegal",
            what=what,
            front=front,
            legal=found.legal,
            failed=_what_failed(found),
            expected=_expected(found.failure),
        )
    if found.ending is not None:
        return catalogue_text("verdicts.around.before_open", what=what, front=front, needs=_needs(found.ending))
    return catalogue_text("verdicts.around.before_complete", what=what, front=front)


def _kind_and_text(kind: SurroundingText, data: bytes) -> str:
    name = catalogue_text(f"verdicts.around.fragment.{kind}")
    if kind in (SurroundingText.BLANKS, SurroundingText.BYTE_ORDER_MARK):
        return name
    return catalogue_text("verdicts.around.fragment.quoted", kind=name, text=quoted(_short(data)))


def _foreign(found: Verdict) -> str:
    failure = found.failure
    assert failure is not None and failure.place.token is not None  # noqa: PT018 - such a verdict is about a token
    number = failure.place.token
    token = found.tokens[number]
    name = quoted(token.name) if token.name else f"#{token.token_id}"
    return catalogue_text("verdicts.illegal.foreign", number=number + 1, name=name, expected=_expected(failure))


# -------------------------------------------------------------------------------------------------------------- notes


def _on_ending(found: Verdict, finish: str) -> list[str]:
    ending = found.ending
    if found.outcome is VerdictOutcome.COMPLETE and finish == LENGTH:
        return [catalogue_text("verdicts.complete.by_budget")]
    if found.outcome is VerdictOutcome.COMPLETE and finish == CONTEXT:
        return [catalogue_text("verdicts.complete.by_context")]
    if ending is None or found.outcome not in (
        VerdictOutcome.CUT_OFF,
        VerdictOutcome.LOOPS,
        VerdictOutcome.TEXT_BEFORE,
    ):
        return []
    notes = []
    limit = catalogue_text(
        "verdicts.budget.fragment.context" if finish == CONTEXT else "verdicts.budget.fragment.budget",
        count=ending.budget or 0,
    )
    if _is_longer_than_budget(ending, finish):
        notes.append(catalogue_text("verdicts.budget.exceeded", limit=limit))
    elif ending.late_at == 0:
        notes.append(catalogue_text("verdicts.budget.never", limit=limit, needs=ending.late_needs))
    elif ending.late_at is not None and ending.budget is not None:
        left = max(0, ending.budget - ending.late_at)
        notes.append(catalogue_text("verdicts.budget.late", late=ending.late_at, needs=ending.late_needs, left=left))
    if ending.is_dead_end and found.outcome is VerdictOutcome.LOOPS:  # otherwise the sentence says so
        notes.append(catalogue_text("verdicts.budget.dead_end"))
    if ending.budget is not None and ending.in_bytes.text:
        notes.append(catalogue_text("verdicts.budget.ending", text=quoted(_short(ending.in_bytes.text))))
    if ending.budget is not None and ending.used is None:
        notes.append(catalogue_text("verdicts.budget.unknown"))
    if finish == STOP:
        last = found.tokens[-1] if found.tokens else None
        if last is not None and last.state is ReplayedTokenState.ILLEGAL and not last.data:
            name = quoted(last.name or catalogue_text("verdicts.stop.fragment.name"))
            notes.append(catalogue_text("verdicts.stop.end_token", name=name))
        notes.append(catalogue_text("verdicts.stop.text"))
    return notes


def _on_failure(found: Verdict, source: SourceText) -> list[str]:
    failure = found.failure
    if failure is None or found.outcome not in (
        VerdictOutcome.ILLEGAL,
        VerdictOutcome.TEXT_BEFORE,
        VerdictOutcome.FOREIGN,
    ):
        return []
    notes = []
    if failure.missing:
        notes.append(catalogue_text("verdicts.illegal.expected", expected=_expected(failure)))
    is_located = found.outcome is VerdictOutcome.ILLEGAL and _is_by_location(failure) and _by(failure, source)
    if failure.spans and not is_located:
        notes.append(catalogue_text("verdicts.illegal.match", place=location_text(failure.spans, source)))
    if found.ending is not None and found.ending.in_bytes.text:
        notes.append(catalogue_text("verdicts.illegal.ending", text=quoted(_short(found.ending.in_bytes.text))))
    return notes


def _on_around(found: Verdict) -> list[str]:
    if found.outcome is VerdictOutcome.TEXT_BEFORE:
        return [catalogue_text("verdicts.around.advice_before")]
    if found.outcome is VerdictOutcome.TEXT_AFTER:
        return [catalogue_text("verdicts.around.advice_after")]
    return []


def _on_cut(found: Verdict) -> list[str]:
    notes = []
    if found.cut_character:
        notes.append(catalogue_text("verdicts.cut.character"))
    elif found.data.endswith("\ufffd".encode()):
        notes.append(catalogue_text("verdicts.cut.replacement"))
    if found.cut_escape:
        notes.append(catalogue_text("verdicts.cut.escape"))
    return notes


def _on_loops(found: Verdict, source: SourceText, *, is_schema: bool) -> list[str]:
    loops = found.loops
    if found.outcome is VerdictOutcome.LOOPS:
        loops = tuple(one for one in loops if not (one.blank and one.at_end))
        notes = [catalogue_text("verdicts.loops.schema" if is_schema else "verdicts.loops.grammar")]
    else:
        notes = []
    return [*notes, *(_on_loop(found, one, source) for one in loops)]


def _on_loop(found: Verdict, circle: OutputLoop, source: SourceText) -> str:
    first, last = circle.range
    place = location_text(circle.spans, source)
    if circle.blank:
        where = catalogue_text("verdicts.loops.fragment.where", place=place) if place else ""
        return catalogue_text("verdicts.loops.blank", first=first, last=last, where=where)
    turn = quoted(_short(found.data[last - circle.period : last]))
    return catalogue_text("verdicts.loops.repeated", text=turn, count=(last - first) // circle.period, last=last)


def _on_spelling(found: Verdict) -> list[str]:
    differs = found.divergence
    if differs is not None:
        nothing = catalogue_text("verdicts.tokens.fragment.nothing")
        given = quoted(visible(differs.given)) if differs.given else nothing
        own = quoted(visible(differs.own)) if differs.own else nothing
        return [catalogue_text("verdicts.tokens.differ", number=differs.token + 1, own=own, given=given)]
    if found.is_canonical:
        return [catalogue_text("verdicts.tokens.canonical")]
    if found.spelled is TokenOrigin.FEWEST:
        return [catalogue_text("verdicts.tokens.fewest")]
    return []


def _on_grammar(found: Verdict, source: SourceText) -> list[str]:
    return [
        catalogue_text("verdicts.grammar.finding", line=source.line_column(one.span.start)[0], message=one.message)
        for one in found.diagnostics
        if one.severity is not Severity.HINT
    ]


# ------------------------------------------------------------------------------------------------------------- pieces


def _expected(failure: Failure) -> str:
    return listed(failure.expected, failure.elements, accepting=failure.accepting) or catalogue_text(
        "verdicts.illegal.fragment.end"
    )


def _by(failure: Failure, source: SourceText) -> str:
    """Describe which properties or rules expected it: those of the first stack."""
    if not failure.stacks:
        return ""
    stack = failure.stacks[0]
    names = [quoted(name) for name in stack.properties[:MOST_PROPERTIES]]
    if names:
        has_others = stack.other_properties or len(stack.properties) > len(names)
        kind = "other_properties" if has_others else "property" if len(names) == 1 else "properties"
        return catalogue_text(f"verdicts.illegal.fragment.{kind}", names=", ".join(names))
    if not _is_by_location(failure):
        return catalogue_text("verdicts.illegal.fragment.rule", name=quoted(stack.rules[0]))
    place = location_text(failure.spans[:1], source)
    return catalogue_text("verdicts.illegal.fragment.grammar", place=place) if place else ""


def _is_by_location(failure: Failure) -> bool:
    """Return whether neither a property nor a rule has a name for what expected it."""
    if not failure.stacks:
        return False
    stack = failure.stacks[0]
    return not stack.properties and (not stack.rules or stack.rules[0].startswith("/"))


def _failed_at(failure: Failure) -> str:
    place = failure.place
    where = {"line": place.line, "column": place.column, "byte": place.byte}
    if place.token is None:
        return catalogue_text("verdicts.fragment.where.position", **where)
    return catalogue_text("verdicts.fragment.where.position_token", **where, token=place.token + 1)


def _what_failed(found: Verdict) -> str:
    return (
        culprit(found.data, found.legal)[1]
        if found.legal < len(found.data)
        else catalogue_text("verdicts.fragment.where.end")
    )


def _end_of(found: Verdict) -> str:
    """Describe where the legal part ends, in tokens if there are any."""
    used = sum(1 for token in found.tokens if token.data and token.start + len(token.data) <= found.legal)
    if found.tokens and found.spelled is not None and used:
        return catalogue_text("verdicts.fragment.where.token", number=used)
    return catalogue_text("verdicts.fragment.where.byte", number=found.legal)


def _length(found: Verdict) -> str:
    size = catalogue_text("verdicts.fragment.size.bytes", count=len(found.data))
    count = sum(1 for token in found.tokens if token.data)
    return catalogue_text("verdicts.fragment.size.tokens", count=count, size=size) if count else size


def _named(names: tuple[str, ...]) -> str:
    names_shown = [quoted(name) for name in names[:MOST_PROPERTIES]]
    if len(names) > len(names_shown):
        names_shown.append(catalogue_text("verdicts.illegal.fragment.others", number=len(names) - len(names_shown)))
    all_names = names_shown[0]
    if len(names_shown) > 1:
        first = ", ".join(names_shown[:-1])
        all_names = catalogue_text("verdicts.illegal.fragment.and", names=first, last=names_shown[-1])
    return catalogue_text("verdicts.illegal.fragment.missing", count=len(names), names=all_names)


def _at_least(least: int, most: int | None) -> str:
    if least == most:
        return f"{least:,}"
    if most is None:
        return catalogue_text("verdicts.fragment.needs.at_least", least=least)
    return catalogue_text("verdicts.fragment.needs.range", least=least, most=most)


def _short(data: bytes) -> str:
    shown = visible(data)
    return shown if len(shown) <= LONGEST_EXCERPT else shown[: LONGEST_EXCERPT - 1] + "…"


def _tail(data: bytes) -> str:
    shown = visible(data)
    return shown if len(shown) <= LONGEST_EXCERPT // 2 else "…" + shown[1 - LONGEST_EXCERPT // 2 :]

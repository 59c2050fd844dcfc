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
from engine.diagnosis.verdicts.wrappers import prefix_kind, suffix_kind
from engine.document.saved_traces import CONTEXT, LENGTH, STOP
from engine.matching.explanation_text import MOST_PROPERTIES, culprit, listed, location_text, quoted
from engine.source import Severity, SourceText
from engine.vocabulary.visible import visible

LONGEST_EXCERPT = 40
_PLACE = ", by the grammar's"


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
            return "No text matches this grammar, so no output is ever legal."
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
    said = (
        "This spelling is valid by the standard; Turnstile never writes it this way: "
        f"{quoted(written)} at line {place.line:,}, column {place.column:,} (byte {found.start:,})"
    )
    if not found.is_number:
        return (
            f"{said} is not the shortest spelling of its character, and the grammar is compiled with escapes "
            "`shortest`. Outputs from elsewhere are judged with escapes `any`."
        )
    plain = f", here as {quoted(found.plain)}" if found.plain and found.plain != written else ""
    return f"{said}. It writes integers and the numbers of enum and const without an exponent or extra zeros{plain}."


# ---------------------------------------------------------------------------------------------------------- sentences


def _complete(found: Verdict) -> str:
    size = f" ({_length(found)})" if found.data else ", the empty one that it is"
    return f"Complete: the output matches the grammar in full{size}."


def _cut_off(found: Verdict, finish: str) -> str:
    ending = found.ending
    assert ending is not None
    where = _end_of(found)
    is_counted = ending.budget is not None and ending.used is not None and ending.least_tokens is not None
    if is_counted and finish != STOP:
        assert ending.least_tokens is not None
        needed = _at_least(ending.least_tokens, ending.most_tokens)
        left = ending.left or 0
        if left >= ending.least_tokens:
            return f"Stopped early at {where}: the shortest legal ending needed {needed} more, and {left} were left."
        if finish == CONTEXT:
            return f"Cut off at {where}: the model's context is full, the shortest legal ending needed {needed} more."
        return f"Cut off at {where}: the shortest legal ending needed {needed} more, the budget had {left}."
    how = {
        LENGTH: "Cut off by the budget at",
        CONTEXT: "Cut off by the model's context, which is full, at",
        STOP: "It stopped by itself before its end, at",
    }
    return f"{how.get(finish, 'Not complete: legal so far, but it ends at')} {where}{_needs(ending)}."


def _needs(ending: CompletionBudget) -> str:
    if ending.is_dead_end:
        return ", and no tokens of this vocabulary complete it"
    least, most, text = ending.in_bytes.at_least, ending.in_bytes.at_most, ending.in_bytes.text
    shown = f" ({quoted(_short(text))})" if text else ""
    tokens = ending.least_tokens
    if tokens is not None and (ending.most_tokens is not None or most is None or tokens <= most):
        needed = _at_least(tokens, ending.most_tokens)
        return f"; the shortest legal ending needs {needed} more token{'' if needed == '1' else 's'}{shown}"
    if least is None:
        return ", and no bytes complete it: the grammar wants a token taken whole"
    needed = _at_least(least, most)
    # More tokens than bytes: the search stopped early, and the vocabulary may have no encoding at all.
    unspelled = f", and no {tokens:,} tokens of this vocabulary spell one" if tokens is not None else ""
    return f"; the shortest legal ending needs {needed} more byte{'' if needed == '1' else 's'}{shown}{unspelled}"


def _loops(found: Verdict, source: SourceText) -> str:
    circle = next(one for one in reversed(found.loops) if one.at_end)
    first, last = circle.range
    place = location_text(circle.spans, source)
    where = f" at {place}" if place else ""
    return (
        f"It loops on white space: the last {last - first:,} bytes are blanks that change nothing, and the "
        f"grammar allows them without end{where}."
    )


def _illegal(found: Verdict, source: SourceText) -> str:
    failure = found.failure
    assert failure is not None
    where, what = _failed_at(failure), _what_failed(found)
    if failure.missing:
        return f"Illegal {where}: {what} closes the object too early, {_named(failure.missing)} still missing."
    before = found.data[max(0, found.legal - LONGEST_EXCERPT) : found.legal]
    behind = f" after {quoted(_tail(before))}" if before else ""
    return f"Illegal {where}: {what} is not allowed{behind}; expected {_expected(failure)}{_by(failure, source)}."


def _text_after(found: Verdict) -> str:
    failure = found.failure
    assert failure is not None
    rest = found.data[found.legal :]
    kind = suffix_kind(rest)
    follows = kind if kind == "white space" else f"{kind}, {quoted(_short(rest))},"
    return f"Complete up to {_end_of(found)}, but {follows} follows, which the grammar does not allow."


def _text_before(found: Verdict) -> str:
    assert found.skipped is not None
    front, end = found.skipped
    kind = prefix_kind(found.data[:front])
    what = kind if kind in ("white space", "a byte order mark") else f"{kind}, {quoted(_short(found.data[:front]))},"
    begins = f"It begins with {what} that the grammar does not allow; from byte {front:,} on it is "
    if end < len(found.data):
        return f"{begins}complete up to byte {end:,}, where {suffix_kind(found.data[end:])} follows."
    if found.failure is not None:
        wanted = _expected(found.failure)
        return (
            f"{begins}legal up to byte {found.legal:,}, then {_what_failed(found)} is not allowed; expected {wanted}."
        )
    if found.ending is not None:
        return f"{begins}legal, but not complete{_needs(found.ending)}."
    return f"{begins}complete."


def _foreign(found: Verdict) -> str:
    failure = found.failure
    assert failure is not None and failure.place.token is not None  # noqa: PT018 - such a verdict is about a token
    token = found.tokens[failure.place.token]
    name = quoted(token.name) if token.name else f"#{token.token_id}"
    return f"Illegal at token {failure.place.token + 1:,}: {name} has no text; expected {_expected(failure)}."


# -------------------------------------------------------------------------------------------------------------- notes


def _on_ending(found: Verdict, finish: str) -> list[str]:
    ending = found.ending
    if found.outcome is VerdictOutcome.COMPLETE and finish == LENGTH:
        return ["The budget ended the generation, though the output was complete: it could have gone on."]
    if found.outcome is VerdictOutcome.COMPLETE and finish == CONTEXT:
        return ["The model's context was full, though the output was complete: it could have gone on."]
    if ending is None or found.outcome not in (
        VerdictOutcome.CUT_OFF,
        VerdictOutcome.LOOPS,
        VerdictOutcome.TEXT_BEFORE,
    ):
        return []
    notes = []
    size = f"{ending.budget or 0:,} tokens"
    limit = f"room for {size} in the model's context" if finish == CONTEXT else f"budget of {size}"
    if ending.late_at == 0:
        notes.append(
            f"The {limit} never sufficed: the shortest text of this grammar takes at least "
            f"{ending.late_needs:,} tokens."
        )
    elif ending.late_at is not None and ending.budget is not None:
        notes.append(
            f"From token {ending.late_at:,} on it could not be finished in time: there the shortest ending needed "
            f"{ending.late_needs:,} tokens, and {max(0, ending.budget - ending.late_at):,} were left."
        )
    if ending.budget is not None and (ending.used or 0) > ending.budget:
        notes.append(f"The output has more tokens than the {limit}: they were cut otherwise, or another limit applied.")
    if ending.is_dead_end and found.outcome is VerdictOutcome.LOOPS:  # otherwise the sentence says so
        notes.append("No tokens of this vocabulary complete it: this is a dead end.")
    if ending.budget is not None and ending.in_bytes.text:
        notes.append(f"The shortest legal ending is {quoted(_short(ending.in_bytes.text))}.")
    if ending.budget is not None and ending.used is None:
        notes.append("The budget was not held against it: its tokens are not known.")
    if finish == STOP:
        last = found.tokens[-1] if found.tokens else None
        if last is not None and last.state is ReplayedTokenState.ILLEGAL and not last.data:
            notes.append(f"It ends with {quoted(last.name or 'an end token')}, where the grammar allows no end.")
        notes.append("An engine that enforces the grammar allows no end here: look for a stop string, or an end token.")
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
        notes.append(f"Expected there: {_expected(failure)}.")
    if failure.spans and not (found.outcome is VerdictOutcome.ILLEGAL and _by(failure, source).startswith(_PLACE)):
        notes.append(f"The match is at {location_text(failure.spans, source)}.")
    if found.ending is not None and found.ending.in_bytes.text:
        notes.append(f"A legal ending from there on: {quoted(_short(found.ending.in_bytes.text))}.")
    return notes


def _on_around(found: Verdict) -> list[str]:
    if found.outcome is VerdictOutcome.TEXT_BEFORE:
        return ["Judge the output without it, or ask the model for nothing but the text itself."]
    if found.outcome is VerdictOutcome.TEXT_AFTER:
        return ["An engine stops there: look for a stop that came too late, or cut the rest off."]
    return []


def _on_cut(found: Verdict) -> list[str]:
    notes = []
    if found.cut_character:
        notes.append("It ends within a character: bytes of its UTF-8 are still to come.")
    elif found.data.endswith("\ufffd".encode()):
        notes.append("It ends with U+FFFD: whoever decoded it cut a character in two.")
    if found.cut_escape:
        notes.append("It ends within an escape of a JSON string.")
    return notes


def _on_loops(found: Verdict, source: SourceText, *, is_schema: bool) -> list[str]:
    loops = found.loops
    if found.outcome is VerdictOutcome.LOOPS:
        loops = tuple(one for one in loops if not (one.blank and one.at_end))
        if is_schema:
            notes = ["White space `flexible`, `one-space` or `compact` has no such loops."]
        else:
            notes = ["Bound the white space in the grammar (such as `[ \\n]{0,8}`), or take it out."]
    else:
        notes = []
    return [*notes, *(_on_loop(found, one, source) for one in loops)]


def _on_loop(found: Verdict, circle: OutputLoop, source: SourceText) -> str:
    first, last = circle.range
    place = location_text(circle.spans, source)
    where = f", at {place}" if place else ""
    if circle.blank:
        return f"Bytes {first:,} to {last:,} are blanks that change nothing{where}."
    turn = found.data[last - circle.period : last]
    times = (last - first) // circle.period
    return f"It repeats itself: {quoted(_short(turn))} comes {times:,} times up to byte {last:,}."


def _on_spelling(found: Verdict) -> list[str]:
    differs = found.divergence
    if differs is not None:
        given = quoted(visible(differs.given)) if differs.given else "nothing"
        own = quoted(visible(differs.own)) if differs.own else "nothing"
        at = f"at token {differs.token + 1:,}"
        return [f"The tokenizer would have spelled it otherwise: {at} it writes {own}, not {given}."]
    if found.is_canonical:
        return ["Its tokens are those that the tokenizer itself would have written."]
    if found.spelled is TokenOrigin.FEWEST:
        return ["The tokens are as few as spell the text: how the model cut it is not known."]
    return []


def _on_grammar(found: Verdict, source: SourceText) -> list[str]:
    return [
        f"Of the grammar, line {source.line_column(one.span.start)[0]}: {one.message}."
        for one in found.diagnostics
        if one.severity is not Severity.HINT
    ]


# ------------------------------------------------------------------------------------------------------------- pieces


def _expected(failure: Failure) -> str:
    return listed(failure.expected, failure.elements, accepting=failure.accepting) or "the end of the text"


def _by(failure: Failure, source: SourceText) -> str:
    """Describe which properties or rules expected it: those of the first stack."""
    if not failure.stacks:
        return ""
    stack = failure.stacks[0]
    names = [quoted(name) for name in stack.properties[:MOST_PROPERTIES]]
    if names:
        others = " or another" if stack.other_properties or len(stack.properties) > len(names) else ""
        return f" of the propert{'y' if len(names) == 1 and not others else 'ies'} {', '.join(names)}{others}"
    if stack.rules and not stack.rules[0].startswith("/"):
        return f" in the rule {quoted(stack.rules[0])}"
    place = location_text(failure.spans[:1], source)
    return f"{_PLACE} {place}" if place else ""


def _failed_at(failure: Failure) -> str:
    place = failure.place
    token = "" if place.token is None else f", token {place.token + 1:,}"
    return f"at line {place.line:,}, column {place.column:,} (byte {place.byte:,}{token})"


def _what_failed(found: Verdict) -> str:
    return culprit(found.data, found.legal)[1] if found.legal < len(found.data) else "the end"


def _end_of(found: Verdict) -> str:
    """Describe where the legal part ends, in tokens if there are any."""
    used = sum(1 for token in found.tokens if token.data and token.start + len(token.data) <= found.legal)
    return f"token {used:,}" if found.tokens and found.spelled is not None and used else f"byte {found.legal:,}"


def _length(found: Verdict) -> str:
    size = f"{len(found.data):,} byte{'' if len(found.data) == 1 else 's'}"
    count = sum(1 for token in found.tokens if token.data)
    return f"{count:,} token{'' if count == 1 else 's'}, {size}" if count else size


def _named(names: tuple[str, ...]) -> str:
    names_shown = [quoted(name) for name in names[:MOST_PROPERTIES]]
    if len(names) > len(names_shown):
        names_shown.append(f"{len(names) - len(names_shown)} others")
    listed_names = names_shown[0] if len(names_shown) == 1 else f"{', '.join(names_shown[:-1])} and {names_shown[-1]}"
    return (
        f"{'the property' if len(names) == 1 else 'the properties'} {listed_names} {'is' if len(names) == 1 else 'are'}"
    )


def _at_least(least: int, most: int | None) -> str:
    if least == most:
        return f"{least:,}"
    return f"at least {least:,}" if most is None else f"{least:,} to {most:,}"


def _short(data: bytes) -> str:
    shown = visible(data)
    return shown if len(shown) <= LONGEST_EXCERPT else shown[: LONGEST_EXCERPT - 1] + "…"


def _tail(data: bytes) -> str:
    shown = visible(data)
    return shown if len(shown) <= LONGEST_EXCERPT // 2 else "…" + shown[1 - LONGEST_EXCERPT // 2 :]

"""The manual's page of causes, from the catalogue.

Each cause has the evidence that it needs, its fixes, and an example with the sentence that the diagnosis says: a sample
of *Help > Failures*, or texts of `cause_examples.json`. A test fails if the page differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from app.document.failure_samples import failure_samples
from engine.diagnosis.case import FailureCase
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.failures.rules import CauseFix, all_fixes
from engine.diagnosis.intake import read_failure
from engine.source.catalogue import catalogue_text

EXAMPLES: Final = Path(__file__).with_name("cause_examples.json")
_OPENING: Final = """# Causes of failed requests

All causes that *Paste what failed*, *Check an output* and `turnstile diagnose` name: the evidence that each needs, what
to do, and an example with its sentence. The ids are stable. Where several causes hold, the earliest that explains the
others is named, and evidence of a log or a finish reason comes before that of the text.

Written by `python -m resources.manual causes` from the catalogue; not edited by hand.
"""


def example_texts() -> dict[Cause, list[str]]:
    """Return what to paste for a cause, for those that no sample has."""
    found: dict[str, list[str]] = json.loads(EXAMPLES.read_text("utf-8"))
    return {Cause(cause): texts for cause, texts in found.items()}


def example_case(cause: Cause) -> FailureCase | None:
    """Return the example of a cause; None if it has none."""
    texts = example_texts().get(cause)
    if texts is not None:
        return read_failure(texts)
    return next((sample.case() for sample in failure_samples() if sample.cause is cause), None)


def causes_page() -> str:
    """Return the page of causes, in Markdown."""
    contents = ", ".join(f"[`{cause}`](#{cause})" for cause in Cause)
    return "\n".join([_OPENING, f"{contents}.", "", *(line for cause in Cause for line in _section(cause))])


def _section(cause: Cause) -> Iterator[str]:
    yield from (f"## {cause}", "", f"**Named when:** {catalogue_text(f'failures.when.{cause}')}", "")
    general, *special = all_fixes(cause)
    yield from (f"**What to do:** {general.text}", "")
    if special:
        yield from (*(f"- {_scope(fix)}: {fix.text}" for fix in special), "")
    yield from _example(cause)


def _scope(fix: CauseFix) -> str:
    return ", ".join(filter(None, (f"`{fix.detail}`" if fix.detail else "", fix.server)))


def _example(cause: Cause) -> Iterator[str]:
    case = example_case(cause)
    if case is None:
        return
    sample = next(((at, one) for at, one in enumerate(failure_samples(), 1) if one.cause is cause), None)
    if sample is None or cause in example_texts():
        yield from ("**Example:** paste", "")
        for text in example_texts()[cause]:
            yield from ("```text", text, "```", "")
    else:
        number, failure = sample
        yield from (f"**Example:** number {number} of [*Help › Failures*](failures.md), {failure.title}.", "")
    yield from (f"> {diagnose(case).sentence}", "")

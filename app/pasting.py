"""Recognises pasted text: its notation, and the grammars and settings of a server request.

A notation is detected by a few unambiguous patterns: a text that may be valid in the current notation is left alone. A
JSON object is a legal regex, and so is a list of rules; nobody intends that.

A failing schema is usually copied as a `response_format`, a tool, or a server's own field (`guided_json`, `grammar`).
Compiled as a schema, such a request is refused, or worse, allows everything, since none of its keys is a keyword.
`engine.diagnosis.intake` reads it, as the command line does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import msgspec

from app.catalogue import ui_text
from app.document import GrammarPart
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import Chat, SamplerSettings
from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.intake import (
    Intake,
    IntakeError,
    IntakeQuestion,
    IntakeRemark,
    TextKind,
    read_intake,
    remarks_of,
)
from engine.diagnosis.intake.sampling import with_sampling
from engine.notations import NOTATIONS
from engine.notations.notation import Notation, NotationVariant
from engine.source.catalogue import catalogue_text


@dataclass(frozen=True, slots=True)
class NotationChoice:
    """A notation with some of its options, as it is offered to the user.

    Attributes:
        notation: the notation.
        variant: the form of it, with its options.
    """

    notation: Notation
    variant: NotationVariant

    @property
    def name(self) -> str:
        """Return its label in the window."""
        return self.variant.title or ui_text(f"common.notation.{self.variant.id}")

    @property
    def tip(self) -> str:
        """Return a few words of description."""
        return self.variant.tip or ui_text(f"window.notation.choice.{self.variant.id}.tip")

    def of(self, grammar: GrammarPart) -> GrammarPart:
        """Return the grammar with this notation and these options."""
        return msgspec.structs.replace(grammar, notation=self.notation.id, **self.variant.options)

    def is_of(self, grammar: GrammarPart) -> bool:
        """Return whether the grammar already has this notation and these options."""
        return self.of(grammar) == grammar


WHITESPACE: Final = ("compact", "one-space", "flexible", "any")
ESCAPES: Final = ("shortest", "any")
ADDITIONAL: Final = ("open", "closed")


def notation_choices() -> tuple[NotationChoice, ...]:
    """Return what the user chooses from: the notations, some in several forms."""
    return tuple(NotationChoice(notation, variant) for notation in NOTATIONS.values() for variant in notation.variants)


def notation_choice_of(grammar: GrammarPart) -> NotationChoice:
    """Return the choice that a grammar matches."""
    return next(choice for choice in notation_choices() if choice.is_of(grammar))


_LARGEST: Final = 40_000  # code points that are read on the GUI thread; a worker reads longer texts
_LARGEST_JSON: Final = 200_000  # of a text that begins as JSON or as a stream, which is read much faster
_JSON_STARTS: Final = ("{", "[", "data:")
_FENCE: Final = "```"
_ROLES: Final = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class PastedRequest:
    """A request, a part of one, or a code block, that was pasted instead of a grammar.

    Attributes:
        case: what it asks for.
        constraints: its grammars; several if it has several tools.
    """

    case: FailureCase
    constraints: tuple[RequestConstraint, ...]

    def wrapper(self, constraint: RequestConstraint) -> str:
        """Return where a grammar was found, such as `response_format.json_schema.schema`."""
        steps = [step for step in constraint.pointer.split("/") if step and not step.isdecimal()]
        return ".".join(steps) or ui_text("window.notation.fragment.code_block")

    def grammar(self, constraint: RequestConstraint, before: GrammarPart) -> GrammarPart:
        """Return the grammar of a document with the notation of a constraint, and the white space of its server.

        Args:
            constraint: one of its grammars.
            before: the grammar, which has the other options.
        """
        whitespace = constraint.options.whitespace if self.case.server else before.whitespace
        return msgspec.structs.replace(before, notation=constraint.notation, dialect="python", whitespace=whitespace)

    def prompt(self, *, has_chat: bool) -> str | Chat | None:
        """Return its prompt; None if it has none.

        Args:
            has_chat: whether the model has a chat template; if not, the messages are one text.
        """
        case = self.case
        messages = tuple((one.role, one.content) for one in case.messages if one.role in _ROLES and one.content)
        if messages and has_chat:
            return Chat(messages, case.prefill)
        if messages:
            return "\n\n".join([*(content for _, content in messages), case.prefill]).rstrip("\n")
        return case.prompt or None

    def sampler(self, before: SamplerSettings) -> SamplerSettings:
        """Return the settings of the sampler with those that it sets."""
        case = self.case
        changes: dict[str, float | str] = {}
        if case.temperature is not None and 0 <= case.temperature <= _HOTTEST:
            changes["temperature"] = case.temperature
        if case.top_k is not None and case.top_k <= _MOST:
            changes["top_k"] = case.top_k
        if case.seed is not None and case.seed <= _MOST:
            changes["seed"] = case.seed
        changes |= {name: value for name, value in case.sampling if hasattr(before, name)}
        return replace(before, **changes)  # type: ignore[arg-type]  # the fields have the types of their values

    def pipeline(self, before: PipelineSettings) -> PipelineSettings:
        """Return the settings of the processors with those that it sets."""
        return with_sampling(before, self.case.sampling)

    @property
    def max_tokens(self) -> int | None:
        """Return its budget; None if it has none that a document can have."""
        budget = self.case.max_tokens
        return budget if budget is not None and 1 <= budget <= _MOST else None


@dataclass(frozen=True, slots=True)
class CopiedFailure:
    """A failed request as it was copied, in one or several parts.

    Attributes:
        case: what the parts say.
        calls: the grammars of the calls of its tools; see `call_grammars`.
        chosen: the index in `grammars` of the one that is opened; by default that of the tool that was called.
    """

    case: FailureCase
    calls: tuple[RequestConstraint, ...] = ()
    chosen: int = -1

    def __post_init__(self) -> None:
        if self.chosen < 0:
            called = self.case.tool_calls[0].name if self.case.tool_calls else ""
            names = [constraint.tool for constraint in self.case.constraints]
            object.__setattr__(self, "chosen", names.index(called) if called and called in names else 0)

    def with_choice(self, chosen: int) -> CopiedFailure:
        """Return it with another grammar."""
        return replace(self, chosen=chosen)

    @property
    def request(self) -> PastedRequest:
        """Return the request in it."""
        return PastedRequest(self.case, self.case.constraints)

    @property
    def grammars(self) -> tuple[RequestConstraint, ...]:
        """Return the grammars that can be opened: those of the request, then its tools as calls in a text."""
        return (*self.case.constraints, *self.calls)

    @property
    def constraint(self) -> RequestConstraint | None:
        """Return the grammar that is opened; None without any."""
        return self.grammars[self.chosen] if self.case.constraints else None

    def title_of(self, constraint: RequestConstraint) -> str:
        """Return what tells one of the grammars from the others: its tool, its format of calls, or its place."""
        if constraint.family:
            name = catalogue_text(f"failures.tool_format.{constraint.family}")
            return ui_text("dialogs.intake.calls", format=name)
        return constraint.tool or self.request.wrapper(constraint)

    @property
    def has_evidence(self) -> bool:
        """Return whether there is anything to judge beside a grammar."""
        case = self.case
        return bool(case.output is not None or case.tool_calls or case.log or case.status)

    @property
    def can_be_diagnosed(self) -> bool:
        """Return whether there is anything to open or to judge."""
        return bool(self.case.constraints) or self.has_evidence

    def judged(self) -> FailureCase:
        """Return the case for the output check: the arguments of a tool call are the output if there is no other."""
        return with_output(self.case)


def with_output(case: FailureCase) -> FailureCase:
    """Return a case whose output is the arguments of its first tool call if it has no other."""
    if not case.output and case.tool_calls:
        return replace(case, output=case.tool_calls[0].arguments.encode())
    return case


@dataclass(frozen=True, slots=True)
class UnreadPaste:
    """A text that was recognised and is no grammar that the editor could take.

    Attributes:
        remark: what it is, what to do, and the command to copy.
        question: what to ask about it; None if it is clear.
        has_evidence: whether it can be diagnosed.
    """

    remark: IntakeRemark | None
    question: IntakeQuestion | None
    has_evidence: bool


def intake_of(text: str) -> Intake | None:
    """Return what is recognised in a text; None if it is too long for the GUI thread, and a worker has to read it."""
    if len(text) > (_LARGEST_JSON if text[:_LARGEST].lstrip().startswith(_JSON_STARTS) else _LARGEST):
        return None
    try:
        return read_intake([text])
    except IntakeError:
        return Intake()


def read_unread(intake: Intake, *, describes_json: bool) -> UnreadPaste | None:
    """Return what a text is that has no grammar; None if it may be one, or anything else.

    Args:
        intake: what is recognised in the text.
        describes_json: whether it would be read as a JSON Schema, in which any unknown object allows everything.
    """
    found = CopiedFailure(intake.case)
    if found.case.constraints:
        return None
    remarks = remarks_of(intake.case)
    question = intake.question if describes_json and intake.question and intake.question.key == "value" else None
    is_evidence = found.has_evidence and not (found.case.output is not None and not found.case.finish)
    if not remarks and not question and not is_evidence:
        return None
    return UnreadPaste(remarks[0] if remarks else None, question, is_evidence)


_HOTTEST: Final = 100.0
_MOST: Final = 2**31 - 1


def read_paste(text: str, intake: Intake) -> PastedRequest | None:
    """Return the request or the code block that a text is; None if it is a grammar itself, or anything else.

    Args:
        text: the text.
        intake: what is recognised in it.
    """
    if TextKind.REQUEST in intake.kinds and intake.case.constraints:
        return PastedRequest(intake.case, intake.case.constraints)
    content = _without_fence(text)
    if content is not text:
        likely = NOTATIONS.likely(content)
        return PastedRequest(intake.case, (RequestConstraint("" if likely is None else likely.id, content),))
    return None


def read_response(text: str) -> FailureCase | None:
    """Return the response that a text is; its output is the answer, or the arguments of its first tool call.

    Args:
        text: the pasted text.

    Returns:
        The response; None if the text is none, is too long, or has no output. An output that only looks like a
        response has no known end, and is none either.
    """
    intake = intake_of(text)
    if intake is None:
        return None
    case = intake.case
    if TextKind.RESPONSE not in intake.kinds or (case.finish is FinishReason.UNKNOWN and not case.scores):
        return None
    case = with_output(case)
    if case.max_tokens is None and case.finish is FinishReason.LENGTH:
        case = replace(case, max_tokens=case.completion_tokens)
    return case if case.output else None


def _without_fence(text: str) -> str:
    """Return the contents of a Markdown code block if it is the whole text."""
    lines = text.strip().split("\n")
    if len(lines) < len(("fence", "text", "fence")) or not lines[0].startswith(_FENCE) or lines[-1].strip() != _FENCE:
        return text
    return "\n".join(lines[1:-1]) + "\n"

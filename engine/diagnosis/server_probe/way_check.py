"""The check of one way of asking: is a mask in force, and from which token on?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.diagnosis.case import FailureCase, FinishReason
from engine.diagnosis.intake.response_reader import read_response
from engine.diagnosis.intake.servers import version_numbers
from engine.diagnosis.server_probe.asking import AskingWay, Question, merged
from engine.diagnosis.server_probe.canary import (
    CANARIES,
    CANARY_VALUE,
    COPY_PROMPT,
    PROMPT,
    SCALAR_SCHEMA,
    AnswerState,
    JudgedAnswer,
    is_error_text,
    is_other_text,
    judge_answer,
)
from engine.diagnosis.server_probe.report import WayFinding, WayState
from engine.servers import (
    RefusedRequestError,
    ServerClient,
    ServerIdentity,
    SilentServerError,
    UnreadableReplyError,
)
from engine.servers.grammar_form import GrammarForm

_FEW_TOKENS: Final = 8
"""The tokens that show that an answer is another text than the canary."""
_MOST_TOKENS: Final = 48
_MOST_THOUGHTS: Final = 512
_TIMEOUT_S: Final = 30.0
_NO_SUCH_ROUTE: Final = (404, 405, 501)
_FATAL: Final = (401, 403)
_LISTS_TOKENS: Final[Mapping[str, Any]] = {"logprobs": True}


@dataclass(frozen=True, slots=True)
class AskedAnswer:
    """The answer to a request.

    Attributes:
        case: the response; None if the server refuses the request.
        status: the HTTP status of a refusal; 0 if there is no complete answer.
        message: the message of the server.
    """

    case: FailureCase | None
    status: int = 200
    message: str = ""

    @property
    def text(self) -> str:
        """Return the text of the response; empty without one."""
        return "" if self.case is None else (self.case.output or b"").decode("utf-8", "replace")


class WayCheck:
    """Checks ways of asking of one server; the answers without a constraint are asked for once.

    Args:
        client: the server.
        identity: what it says of itself.
    """

    def __init__(self, client: ServerClient, identity: ServerIdentity) -> None:
        self._client, self._identity = client, identity
        self._controls: dict[str, AskedAnswer] = {}
        self._copies: dict[str, bool] = {}

    def ask(
        self, way: AskingWay, constraint: Any, *, prompt: str = PROMPT, most_tokens: int = _MOST_TOKENS, **more: Any
    ) -> AskedAnswer:
        """Return the answer to a request.

        Args:
            way: the way of asking.
            constraint: the constraint in the form of the way; None for none.
            prompt: the message of the user.
            most_tokens: the token budget.
            more: further fields; `is_hot` is that of the `Question`.

        Raises:
            ServerError: the server cannot be reached, or refuses the key.
            CancelledError: the work was cancelled.
        """
        is_hot = bool(more.pop("is_hot", False))
        question = Question(self._identity.model, prompt, most_tokens, is_hot=is_hot)
        body = merged(way.body(question, constraint), more)
        path = f"{self._client.openai_path}{way.route.path}" if way.route.is_openai else way.route.path
        try:
            return AskedAnswer(read_response(self._reply(path, body, streams=way.streams)))
        except RefusedRequestError as error:
            if error.status in _FATAL:
                raise
            return AskedAnswer(None, error.status, error.message)
        except UnreadableReplyError as error:
            return AskedAnswer(FailureCase(status=str(error)))
        except SilentServerError as error:
            return AskedAnswer(None, 0, str(error))

    def ask_for_difference(self, way: AskingWay, constraint: Any) -> AskedAnswer:
        """Return the answer to a request; only its beginning if the model writes the same without the constraint.

        Args:
            way: the way of asking, whose mask is known to be on.
            constraint: a constraint of which no text begins like that.

        Raises:
            ServerError, CancelledError: as `ask`.
        """
        if not self._is_thoughtless(way):
            return self.ask(way, constraint)
        brief = self.ask(way, constraint, most_tokens=_FEW_TOKENS)
        if brief.case is None or brief.case.finish is FinishReason.STOP:
            return brief
        is_same = brief.text == self._control(way).text
        return brief if is_same and is_other_text(brief.case, way.form) else self.ask(way, constraint)

    def check(self, way: AskingWay) -> WayFinding:
        """Return what is known of a way of asking.

        Raises:
            ServerError, CancelledError: as `ask`.
        """
        if not way.is_in(version_numbers(self._identity.version)):
            return WayFinding(way.name, WayState.NOT_OFFERED)
        if way.switches_thinking and not self._has_switch(way):
            return WayFinding(way.name, WayState.NOT_OFFERED)
        answer = self.ask(way, CANARIES[way.form])
        if answer.case is None:
            return WayFinding(way.name, _state_of_refusal(answer, self._control(way)), answer.message)
        case = answer.case
        judged = judge_answer(case, way.form, is_call=way.is_call)
        is_open = judged.state in (AnswerState.CUT_OFF, AnswerState.FREE) and case.finish is FinishReason.LENGTH
        if is_open and not self._is_thoughtless(way):
            case = self.ask(way, CANARIES[way.form], most_tokens=_MOST_THOUGHTS).case or case
            judged = judge_answer(case, way.form, is_call=way.is_call)
            if judged.state is AnswerState.FREE and case.finish is FinishReason.LENGTH:
                judged = replace(judged, state=AnswerState.CUT_OFF)
        if judged.state is AnswerState.CUT_OFF and way.form is GrammarForm.JSON_SCHEMA and not way.is_call:
            scalar = self.ask(way, SCALAR_SCHEMA).case
            if scalar is not None and judge_answer(scalar, way.form).state is AnswerState.OBEYED:
                case, judged = scalar, judge_answer(scalar, way.form)
        return self._finding(way, case, judged)

    def _finding(self, way: AskingWay, case: FailureCase, judged: JudgedAnswer) -> WayFinding:
        """Return what an answer to the canary shows, beside the answer to the same request without it."""
        state = _STATES.get(judged.state, WayState.ON)
        if judged.state is AnswerState.FREE:
            reads_as_error = is_error_text(judged.text, "") and is_error_text(judged.text, self._usual_text(way))
            state = WayState.ERROR_TEXT if reads_as_error else WayState.OFF
        elif judged.state in (AnswerState.OBEYED, AnswerState.LATE) and not self._is_unseen(way, case, judged):
            state = WayState.COPY
        found = WayFinding(way.name, state, judged.text, has_thoughts=judged.has_thoughts)
        if not state.in_force:
            return found
        if not judged.has_thoughts and judged.state is AnswerState.OBEYED:
            return replace(found, from_token=0)
        return replace(found, from_token=self._tokens_before(way, case))

    def _is_unseen(self, way: AskingWay, case: FailureCase, judged: JudgedAnswer) -> bool:
        """Return whether the model cannot have copied the canary from its prompt."""
        control = self._control(way)
        is_first = judged.state is AnswerState.OBEYED and not judged.has_thoughts
        differs = is_first and control.case is not None and is_other_text(control.case, way.form)
        if not differs and CANARY_VALUE in self._usual_text(way):
            return False
        usual = None if control.case is None else control.case.prompt_tokens
        if usual is not None and case.prompt_tokens == usual:
            return True
        if self._can_copy(way):
            return False
        hot = self.ask(way, CANARIES[way.form], is_hot=True)
        obeyed = (AnswerState.OBEYED, AnswerState.LATE)
        return hot.case is not None and judge_answer(hot.case, way.form, is_call=way.is_call).state in obeyed

    def _can_copy(self, way: AskingWay) -> bool:
        """Return whether the model, at the high temperature, writes a canary that it is told to copy."""
        if way.route.path not in self._copies:
            plain = replace(way, streams=False, beside={})
            hot = self.ask(plain, None, prompt=COPY_PROMPT, is_hot=True)
            self._copies[way.route.path] = hot.case is None or CANARY_VALUE in hot.text
        return self._copies[way.route.path]

    def _control(self, way: AskingWay, most_tokens: int = _FEW_TOKENS) -> AskedAnswer:
        """Return the answer, or its beginning, to the request of a way without the constraint."""
        key = f"{way.route.path} {sorted(way.beside.items())} {most_tokens}"
        if key not in self._controls:
            plain = AskingWay("", way.route, form=next(iter(CANARIES)), fields=dict, beside=way.beside)
            self._controls[key] = self.ask(plain, None, most_tokens=most_tokens)
        return self._controls[key]

    def _usual_text(self, way: AskingWay) -> str:
        """Return what the model writes without the constraint."""
        return self._control(way, _MOST_TOKENS).text

    def _has_switch(self, way: AskingWay) -> bool:
        """Return whether the switch for thoughts of a way changes the prompt, or an answer has thoughts."""
        if self._has_plain_template:
            return False
        with_it, without = (self._control(one, _MOST_TOKENS) for one in (way, replace(way, beside={})))
        if with_it.case is None or without.case is None:
            return True  # the refusal is shown
        return (
            with_it.case.prompt_tokens != without.case.prompt_tokens
            or bool(with_it.case.thinking or without.case.thinking)
            or with_it.case.output != without.case.output
        )

    def _is_thoughtless(self, way: AskingWay) -> bool:
        """Return whether the model is known not to think: its template has no place for it, or it answered without."""
        if self._has_plain_template:
            return True
        control = self._control(way, _MOST_TOKENS).case
        return control is not None and control.finish is FinishReason.STOP and not control.thinking

    @property
    def _has_plain_template(self) -> bool:
        """Return whether the chat template is known, and has no place for thoughts."""
        template = self._identity.chat_template
        return template is not None and "think" not in template and "reason" not in template

    def _tokens_before(self, way: AskingWay, case: FailureCase) -> int | None:
        """Return the number of tokens before the canary; None if the server does not list the tokens."""
        if case.reasoning_tokens is not None and case.reasoning:
            return case.reasoning_tokens
        if way.streams or not way.route.is_openai:
            return None
        listed = self.ask(way, CANARIES[way.form], most_tokens=_MOST_THOUGHTS, **_LISTS_TOKENS)
        scores = () if listed.case is None else listed.case.scores
        written, ends = b"", []
        for one in scores:
            written += one.data
            ends.append(len(written))
        value = written.rfind(CANARY_VALUE.encode())
        begin = max(written.rfind(b"{", 0, value), 0) if b"{" in written[:value] else value
        return None if value < 0 else sum(end <= begin for end in ends)

    def _reply(self, path: str, body: Mapping[str, Any], *, streams: bool) -> Any:
        if streams:
            return list(self._client.stream(path, body, timeout=_TIMEOUT_S))
        return self._client.post(path, body, timeout=_TIMEOUT_S)


_STATES: Final = {
    AnswerState.LATE: WayState.LATE,
    AnswerState.CUT_OFF: WayState.CUT_OFF,
    AnswerState.EMPTY: WayState.EMPTY,
    AnswerState.ERROR_TEXT: WayState.ERROR_TEXT,
}


def _state_of_refusal(answer: AskedAnswer, control: AskedAnswer) -> WayState:
    """Return what the refusal of a constraint shows, beside the answer to the same request without it."""
    if not answer.status:
        return WayState.SILENT
    is_missing = answer.status in _NO_SUCH_ROUTE and control.case is None
    return WayState.NOT_OFFERED if is_missing else WayState.REFUSED

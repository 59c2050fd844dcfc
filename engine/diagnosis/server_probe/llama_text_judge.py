"""llama-server as a judge of texts: it says whether a text is in the language of a constraint, without a sample.

**A schema.** The server continues a last message of the assistant, and advances the grammar of `response_format` by its
text: a text that the grammar refuses is refused with status 400. Behind a text that it accepts, the end token gets a
bias that makes its draw certain: the answer ends there exactly if the grammar may end. So a request decides a text,
whatever the model.

**A grammar of rules** is not advanced by the last message. So the text is steered (`engine.servers.llama_mask`), in the
tokens of the server, with the end token as the last one: the server draws all of them exactly if the grammar allows the
text. That a server does either (`--no-prefill-assistant` switches the first off) is tried on the canary first.

Rejected: the mask behind the text, which is the same decision and 5 MB long.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Final

from engine.diagnosis.server_probe.asking import RefusedSchemaError, response_format
from engine.diagnosis.server_probe.canary import CANARIES, CANARY_INSTANCE, CANARY_SCHEMA, CANARY_VALUE, PROMPT
from engine.servers import RefusedRequestError, ServerClient
from engine.servers.grammar_form import GrammarForm
from engine.servers.llama_mask import draws_run

_BIAS: Final = 10_000
_REFUSED: Final = 400
_REFUSED_TEXT: Final = "Failed to initialize samplers"
"""The beginning of the message for a text that the grammar refuses; a text that is too long has another one."""
_TIMEOUT_S: Final = 30.0
_TOKENIZE: Final = "/tokenize"
_COMPLETION: Final = "/completion"


class LlamaTextJudge:
    """The `TextJudge` of llama-server.

    Args:
        client: the server.
        model: the model that requests name.
    """

    way = "response_format"

    def __init__(self, client: ServerClient, model: str) -> None:
        self._client, self._model = client, model
        self._compiled: set[str] = set()

    @cached_property
    def is_available(self) -> bool:
        """See `TextJudge`."""
        canary = json.dumps(CANARY_INSTANCE, separators=(",", ":"))
        try:
            return (
                self._end_id is not None
                and self.allows(CANARY_SCHEMA, canary)
                and not self.allows(CANARY_SCHEMA, canary[:-1])
                and not self.allows(CANARY_SCHEMA, canary.replace("zq", "qz"))
            )
        except (RefusedRequestError, RefusedSchemaError):
            return False

    def allows(self, constraint: Any, text: str) -> bool:
        """See `TextJudge`."""
        key = json.dumps(constraint)
        if key not in self._compiled:
            try:
                self._ask(constraint, None)
            except RefusedRequestError as error:
                if error.status != _REFUSED:
                    raise
                raise RefusedSchemaError("errors.diagnosis.schema_refused", message=error.message) from error
            self._compiled.add(key)
        try:
            answer = self._ask(constraint, text)
        except RefusedRequestError as error:
            if error.status == _REFUSED and error.message.startswith(_REFUSED_TEXT):
                return False
            raise
        return bool(answer["choices"][0]["finish_reason"] == "stop")

    @cached_property
    def _end_id(self) -> int | None:
        return _end_id(self._client)

    def _ask(self, schema: Any, text: str | None) -> Any:
        messages = [{"role": "user", "content": PROMPT}]
        if text is not None:
            messages.append({"role": "assistant", "content": text})
        body = {
            "model": self._model,
            "messages": messages,
            "max_tokens": 1,
            "temperature": 0,
            "logit_bias": [[self._end_id, _BIAS]],
            **response_format(schema),
        }
        return self._client.post(f"{self._client.openai_path}/chat/completions", body, timeout=_TIMEOUT_S)


class LlamaRuleJudge:
    """The `TextJudge` of llama-server for grammars of rules.

    Args:
        client: the server.
        model: the model that requests name; `/completion` has one.
    """

    way = "/completion grammar"

    def __init__(self, client: ServerClient, model: str) -> None:
        self._client = client
        self._compiled: set[str] = set()

    @cached_property
    def is_available(self) -> bool:
        """See `TextJudge`."""
        canary = CANARIES[GrammarForm.GRAMMAR]
        try:
            return (
                self._end_id is not None
                and self.allows(canary, CANARY_VALUE)
                and not self.allows(canary, CANARY_VALUE[:-1])
                and not self.allows(canary, CANARY_VALUE.upper())
            )
        except (RefusedRequestError, RefusedSchemaError):
            return False

    def allows(self, constraint: Any, text: str) -> bool:
        """See `TextJudge`."""
        if constraint not in self._compiled:
            try:
                self._client.post(_COMPLETION, {"grammar": constraint, "prompt": PROMPT, "n_predict": 1})
            except RefusedRequestError as error:
                if error.status != _REFUSED:
                    raise
                raise RefusedSchemaError("errors.diagnosis.schema_refused", message=error.message) from error
            self._compiled.add(constraint)
        body = {"content": text, "add_special": False, "parse_special": False}
        ids = [*self._client.post(_TOKENIZE, body)["tokens"], self._end_id]
        return draws_run(self._client, {"grammar": constraint}, ids)

    @cached_property
    def _end_id(self) -> int | None:
        return _end_id(self._client)


def _end_id(client: ServerClient) -> int | None:
    """Return the id of the end token that a server names; None if it names none."""
    name = client.get("/props").get("eos_token")
    if not name:
        return None
    ids = client.post(_TOKENIZE, {"content": name, "add_special": False, "parse_special": True})["tokens"]
    return int(ids[0]) if len(ids) == 1 else None

"""llama-server as a judge of texts: it says whether a text is in the language of a schema, without a sample.

It continues a last message of the assistant, and advances the grammar of `response_format` by its text: a text
that the grammar refuses is refused with status 400. Behind a text that it accepts, the end token gets a bias that makes
its draw certain: the answer ends there exactly if the grammar may end. So a request decides a text, whatever the model.
That a server does this (`--no-prefill-assistant` switches it off) is tried on the canary first.

Rejected: the mask behind the text, which is the same decision and 5 MB long.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Final

from engine.diagnosis.server_probe.asking import RefusedSchemaError, response_format
from engine.diagnosis.server_probe.canary import CANARY_INSTANCE, CANARY_SCHEMA, PROMPT
from engine.servers import RefusedRequestError, ServerClient

_BIAS: Final = 10_000
_REFUSED: Final = 400
_REFUSED_TEXT: Final = "Failed to initialize samplers"
"""The beginning of the message for a text that the grammar refuses; a text that is too long has another one."""
_TIMEOUT_S: Final = 30.0


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

    def allows(self, schema: Any, text: str) -> bool:
        """See `TextJudge`."""
        key = json.dumps(schema)
        if key not in self._compiled:
            try:
                self._ask(schema, None)
            except RefusedRequestError as error:
                if error.status != _REFUSED:
                    raise
                raise RefusedSchemaError("errors.diagnosis.schema_refused", message=error.message) from error
            self._compiled.add(key)
        try:
            answer = self._ask(schema, text)
        except RefusedRequestError as error:
            if error.status == _REFUSED and error.message.startswith(_REFUSED_TEXT):
                return False
            raise
        return bool(answer["choices"][0]["finish_reason"] == "stop")

    @cached_property
    def _end_id(self) -> int | None:
        name = self._client.get("/props").get("eos_token")
        if not name:
            return None
        body = {"content": name, "add_special": False, "parse_special": True}
        ids = self._client.post("/tokenize", body)["tokens"]
        return int(ids[0]) if len(ids) == 1 else None

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

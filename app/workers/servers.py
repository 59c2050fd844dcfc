"""The part of the engines group that asks servers what they are."""

from __future__ import annotations

from app.workers.loop import Job, handles
from app.workers.protocol import sentence
from app.workers.requests.servers import IdentifyServer, KeepServerKey, KeptKey, ServerAnswer
from engine.models.sources.server import find_tokenizer
from engine.servers import KINDS, ServerClient, identify
from engine.servers.keys import keep_key, kept_key, key_of, remember_key
from engine.servers.served_model import ServesModel
from engine.source import CancelledError, EngineError


class ServerHandler:
    """Identifies servers and keeps their keys."""

    @handles(IdentifyServer)
    def _identify(self, request: IdentifyServer, job: Job) -> ServerAnswer:
        try:
            key = request.key or key_of(request.address)
            has_kept_key = bool(key) and not request.key and key == kept_key(request.address)
            with ServerClient(request.address, key=key, cancel=job.cancel) as client:
                found = identify(client)
            if request.key:
                remember_key(request.address, request.key)  # for the masks that this process reads from the server
        except CancelledError:
            raise
        except EngineError as error:
            return ServerAnswer(request, error=sentence(error))
        kind = KINDS[found.kind]
        needs = isinstance(kind, ServesModel) and kind.needs_tokenizer
        return ServerAnswer(
            request,
            found,
            kind.title,
            can_step=isinstance(kind, ServesModel),
            lacks_tokenizer=needs and find_tokenizer(found) is None,
            has_kept_key=has_kept_key,
        )

    @handles(KeepServerKey)
    def _keep(self, request: KeepServerKey, _job: Job) -> KeptKey:
        try:
            keep_key(request.address, request.key)
            if not request.key:
                remember_key(request.address, "")
        except EngineError as error:
            return KeptKey(sentence(error))
        return KeptKey()

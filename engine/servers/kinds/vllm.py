"""vLLM: the best k tokens before its mask, 128 named tokens, and our mask by `allowed_token_ids`."""

from __future__ import annotations

from engine.servers.client import ServerClient, ServerError
from engine.servers.identity import (
    Distribution,
    MaskOrder,
    ServerCapabilities,
    ServerIdentity,
    answer_of,
    listed_models,
)
from engine.servers.served_model import ServedModel
from engine.servers.server_mask import ServerMaskReader
from engine.servers.vllm_completion import VllmModel
from engine.servers.vllm_mask import VllmMaskReader
from engine.vocabulary import Vocabulary

CAPABILITIES = ServerCapabilities(
    Distribution.TOP,
    most_listed=20,  # `--max-logprobs` of the server; it does not say which
    order=MaskOrder.BEFORE,  # of a request without `structured_outputs`
    gives_ids=True,
    gives_bytes=True,
    reads_ids=True,
    takes_mask=True,
    shows_mask=None,  # needs `--return-sampling-mask`
    most_priced=128,
    applies_template=True,
)


class Vllm:
    """The kind of vLLM; for the attributes see `ServerKind`."""

    title = "vLLM"
    needs_tokenizer = True

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: its models are owned by `vllm`."""
        models = [one for one in listed_models(client) if one.get("owned_by") == "vllm"]
        if not models:
            return None
        version = answer_of(client, "/version")
        context = models[0].get("max_model_len")
        names = tuple(str(one["id"]) for one in models)
        return ServerIdentity(
            "vllm",
            str(version.get("version", "")) if isinstance(version, dict) else "",
            names[0],
            names,
            CAPABILITIES,
            context_length=context if isinstance(context, int) else None,
            model_path=str(models[0].get("root") or ""),
        )

    def mask_reader(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary) -> ServerMaskReader:
        """Return the reader of its masks; see `ShowsMask`."""
        return VllmMaskReader(client, identity, vocabulary)

    def model(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary | None) -> ServedModel:
        """Return the model with the vocabulary of a tokenizer; see `ServesModel`."""
        if vocabulary is None:
            raise ServerError("errors.servers.needs_tokenizer", model=identity.model)
        return VllmModel(client, identity, vocabulary)


SERVER = Vllm()

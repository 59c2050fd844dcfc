"""SGLang: the best k tokens before its mask if no grammar is asked for, and named tokens."""

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
from engine.servers.sglang_generate import SGLangModel
from engine.vocabulary import Vocabulary

CAPABILITIES = ServerCapabilities(
    Distribution.TOP,
    most_listed=None,
    order=MaskOrder.BEFORE,  # of a request without a grammar
    gives_ids=True,
    gives_bytes=False,
    reads_ids=True,
    takes_mask=True,
    shows_mask=False,  # `return_sampling_mask` has at most `--sampling-mask-max-tokens` of them
    most_priced=1_024,
    applies_template=None,  # newer versions do
)


class SGLang:
    """The kind of SGLang; for the attributes see `ServerKind`."""

    title = "SGLang"
    needs_tokenizer = True

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: its models are owned by `sglang`."""
        models = [one for one in listed_models(client) if one.get("owned_by") == "sglang"]
        if not models:
            return None
        about = answer_of(client, "/server_info") or answer_of(client, "/get_server_info")
        about = about if isinstance(about, dict) else {}
        context = models[0].get("max_model_len")
        names = tuple(str(one["id"]) for one in models)
        return ServerIdentity(
            "sglang",
            str(about.get("version", "")),
            names[0],
            names,
            CAPABILITIES,
            context_length=context if isinstance(context, int) else None,
            model_path=str(about.get("model_path", "")),
        )

    def model(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary | None) -> ServedModel:
        """Return the model with the vocabulary of a tokenizer; see `ServesModel`."""
        if vocabulary is None:
            raise ServerError("errors.servers.needs_tokenizer", model=identity.model)
        return SGLangModel(client, identity, vocabulary)


SERVER = SGLang()

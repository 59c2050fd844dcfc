"""llama-server, the HTTP server of llama.cpp: the whole distribution, its own mask, and ours by biases."""

from __future__ import annotations

import json
from typing import Final

from engine.servers.client import ServerClient
from engine.servers.identity import (
    Distribution,
    MaskOrder,
    ServerCapabilities,
    ServerIdentity,
    answer_of,
    listed_models,
)
from engine.servers.llama_completion import LlamaModel
from engine.servers.llama_mask import LlamaMaskReader
from engine.servers.served_model import ServedModel
from engine.servers.server_mask import ServerMaskReader
from engine.vocabulary import Vocabulary

_OF_WEIGHTS: Final = ("ftype", "n_ctx_train", "n_embd", "n_params", "n_vocab", "size", "vocab_type")

CAPABILITIES = ServerCapabilities(
    Distribution.FULL,
    most_listed=None,
    order=MaskOrder.BEFORE,
    gives_ids=True,
    gives_bytes=True,
    reads_ids=True,
    takes_mask=True,
    shows_mask=True,
    applies_template=True,
)


class LlamaServer:
    """The kind of llama-server; for the attributes see `ServerKind`."""

    title = "llama-server"
    needs_tokenizer = False  # it tells its own vocabulary

    def identify(self, client: ServerClient) -> ServerIdentity | None:
        """See `ServerKind`: `/props` has the build and the template."""
        props = answer_of(client, "/props")
        if not isinstance(props, dict) or "default_generation_settings" not in props:
            return None
        build, listed = str(props.get("build_info", "")), listed_models(client)
        models = tuple(str(one["id"]) for one in listed)
        meta = listed[0].get("meta") if listed else None
        meta = meta if isinstance(meta, dict) else {}
        size = meta.get("n_vocab")
        settings = props["default_generation_settings"]
        context = settings.get("n_ctx") if isinstance(settings, dict) else None
        template = props.get("chat_template")
        return ServerIdentity(
            "llama-server",
            "" if build.endswith("unknown") else build,  # of a build outside of git
            models[0] if models else "",
            models,
            CAPABILITIES,
            context_length=context if isinstance(context, int) and context > 0 else None,
            chat_template=template if isinstance(template, str) and template else None,
            model_path=str(props.get("model_path", "")),
            vocabulary_size=size if isinstance(size, int) and size > 0 else None,
            weights=json.dumps({name: meta[name] for name in _OF_WEIGHTS if name in meta}),
        )

    def model(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary | None) -> ServedModel:
        """Return the model, with the vocabulary of the server; see `ServesModel`."""
        return LlamaModel(client, identity)

    def mask_reader(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary) -> ServerMaskReader:
        """Return the reader of its masks; see `ShowsMask`."""
        return LlamaMaskReader(client, vocabulary)


SERVER = LlamaServer()

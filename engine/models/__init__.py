"""Where next-token logits come from: bundled models, transformers folders, GGUF files, the Hub, a tokenizer alone.

Importing this room loads neither torch nor transformers; `load_model` does.
"""

from engine.models.catalogue import ModelInfo, known_models
from engine.models.errors import ModelError
from engine.models.load import load_model
from engine.models.source import LogitSource, Message

__all__ = ["LogitSource", "Message", "ModelError", "ModelInfo", "known_models", "load_model"]

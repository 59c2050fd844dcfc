"""Sources of next-token logits: bundled models, transformers folders, GGUF files, the Hub, or a tokenizer alone.

Importing this package loads neither torch nor transformers; `load_model` does.
"""

from engine.models.load import known_models, load_model, model_files
from engine.models.source import LogitSource, Message, ModelError, ModelInfo

__all__ = ["LogitSource", "Message", "ModelError", "ModelInfo", "known_models", "load_model", "model_files"]

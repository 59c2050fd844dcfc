"""Logits processors: the stages between a model's logits and the draw, one technique each.

Each is a `Processor`: a state that is a value, and a pure function of state, logits and the tokens so far, for a whole
batch. A `Pipeline` runs them in order.
"""

from engine.decoding.processors.character_classes import CharacterClass, token_set
from engine.decoding.processors.dfa_table import DfaTable
from engine.decoding.processors.grammar_mask import GrammarMask, TokenBudget
from engine.decoding.processors.guide import FiniteStateGuide, StaticMask
from engine.decoding.processors.logits import Allowed, Logits, log_sum_exp, mask, sanitise, softmax
from engine.decoding.processors.mask_processor import ENDED, BatchRows, Ended, MaskProcessor, RowMachine
from engine.decoding.processors.pattern import compile_pattern, parse_pattern
from engine.decoding.processors.processor import Context, Pipeline, Processor
from engine.decoding.processors.shaping import (
    Masking,
    MinP,
    RepetitionPenalty,
    Shape,
    Temperature,
    TopK,
    TopP,
    min_p,
    repetition_penalty,
    temperature,
    top_k,
    top_p,
)
from engine.decoding.processors.suppress import Bias, Suppress

__all__ = [
    "ENDED",
    "Allowed",
    "BatchRows",
    "Bias",
    "CharacterClass",
    "Context",
    "DfaTable",
    "Ended",
    "FiniteStateGuide",
    "GrammarMask",
    "Logits",
    "MaskProcessor",
    "Masking",
    "MinP",
    "Pipeline",
    "Processor",
    "RepetitionPenalty",
    "RowMachine",
    "Shape",
    "StaticMask",
    "Suppress",
    "Temperature",
    "TokenBudget",
    "TopK",
    "TopP",
    "compile_pattern",
    "log_sum_exp",
    "mask",
    "min_p",
    "parse_pattern",
    "repetition_penalty",
    "sanitise",
    "softmax",
    "temperature",
    "token_set",
    "top_k",
    "top_p",
]

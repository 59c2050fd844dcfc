"""A logit source that counts down: each digit is followed by the digit below it."""

import numpy as np

from engine.models.source import ModelError, ModelInfo
from engine.vocabulary import Vocabulary


class Countdown:
    name = "Countdown"
    vocabulary = Vocabulary([*(str(digit).encode() for digit in range(10)), None], [10])
    width = 11
    context_length = None
    chat_template = False
    fingerprint = vocabulary.fingerprint

    def logits(self, ids):
        row = np.zeros(self.width, dtype=np.float32)
        row[(ids[-1] - 1) % self.width] = 9.0
        return row

    def encode(self, text):
        return [int(char) for char in text if char.isdecimal()] or [10]

    def encode_chat(self, messages, assistant_prefix=""):
        raise ModelError("errors.models.template.uniform")


class CountdownKind:
    forms = "countdown"

    def known_models(self):
        return (ModelInfo("countdown", "Countdown", "Counts down.", True, 0),)

    def recognises(self, spec):
        return spec == "countdown"

    def load(self, spec, cancel):
        return Countdown()


SOURCE = CountdownKind()

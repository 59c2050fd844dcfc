"""A logits processor that removes tokens of more than N bytes."""

from engine.decoding.stage import Field, Stage


def _machine(values, vocabulary):
    import numpy as np

    from engine.decoding.processors.mask_processor import MaskProcessor

    class ShortTokens(MaskProcessor):
        stops_itself = False

        def start(self):
            return 0

        def advance(self, state, token_id):
            return 0 if self.allowed(state)[token_id] else None

        def allowed(self, state):
            most = values["longest_token"]
            return np.array([token is None or len(token) <= most for token in vocabulary.tokens])

        def is_accepting(self, state):
            return True

    return ShortTokens(vocabulary)


STAGE = Stage(
    "longest-token", (Field("longest_token", "number", 0, "--longest-token", most=64, unit="bytes"),), machine=_machine
)

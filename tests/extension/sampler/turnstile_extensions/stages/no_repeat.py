"""A stage that lowers the logit of the last token."""

from engine.decoding.stage import Field, Stage


def _shape(values, vocabulary):
    def lowered(logits, history):
        changed = logits.copy()
        changed[list(history[-1:])] -= values["no_repeat"]
        return changed

    return lowered


STAGE = Stage("no-repeat", (Field("no_repeat", "number", 0.0, "--no-repeat", most=1_000),), shape=_shape)

"""An engine that forgets a keyword. A module of its own, so that a child process finds it."""

import json

from engine.peers.adapters.turnstile import OwnAdapter


class ForgetfulAdapter(OwnAdapter):
    """This engine without `maximum`."""

    def compile(self, notation, source):
        schema = json.loads(source)
        return super().compile(notation, json.dumps(without(schema, "maximum")))


def without(value, keyword):
    if isinstance(value, dict):
        return {key: without(inner, keyword) for key, inner in value.items() if key != keyword}
    return [without(inner, keyword) for inner in value] if isinstance(value, list) else value

"""An engine that forgets a keyword. A module of its own, so that a child process finds it."""

import json
from dataclasses import replace

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


class ClosingAdapter(OwnAdapter):
    """This engine, which closes objects."""

    def compile(self, notation, source):
        self.options = replace(self.options, additional="closed")
        return super().compile(notation, source)


class SpacelessAdapter(OwnAdapter):
    """This engine without white space."""

    def compile(self, notation, source):
        self.options = replace(self.options, whitespace="compact")
        return super().compile(notation, source)


class ChoosyAdapter(OwnAdapter):
    """This engine, which refuses `maximum`."""

    def compile(self, notation, source):
        if "maximum" in source:
            raise ValueError("maximum is not supported")
        return super().compile(notation, source)


class NineAdapter(OwnAdapter):
    """This engine, for which nine is no digit."""

    def compile(self, notation, source):
        return super().compile(notation, source.replace("0-9", "0-8"))

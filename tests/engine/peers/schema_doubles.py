"""An engine that forgets a keyword. A module of its own, so that a child process finds it."""

import json
from dataclasses import replace

from engine.compile import compile_grammar
from engine.peers.adapter import allows
from engine.peers.adapters.turnstile import OwnAdapter, OwnMatcher


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


class UnorderedAdapter(OwnAdapter):
    """This engine, which allows properties in any order."""

    def compile(self, notation, source):
        self.options = replace(self.options, property_order="any")
        return super().compile(notation, source)


class AnyOfAdapter(OwnAdapter):
    """This engine, which reads `oneOf` as `anyOf`."""

    def compile(self, notation, source):
        return super().compile(notation, source.replace("oneOf", "anyOf"))


class AsciiMatcher(OwnMatcher):
    """A matcher that allows no byte beyond ASCII."""

    def fill_mask(self):
        super().fill_mask()
        self.mask[4:8] = 0  # bits 128 to 255

    def reset(self):
        super().reset()
        accept = self.accept
        self.accept = lambda token_id: allows(self.mask, token_id) and accept(token_id)


class AsciiAdapter(OwnAdapter):
    """This engine with strings of ASCII characters."""

    def compile(self, notation, source):
        return AsciiMatcher(compile_grammar(notation, source, self.options), self.vocabulary)

    def __init__(self, vocabulary):
        super().__init__(vocabulary)
        self.vocabulary = vocabulary


class ByteMatcher(OwnMatcher):
    """A matcher that allows every continuation byte where it allows one."""

    def fill_mask(self):
        super().fill_mask()
        if self.mask[4:6].any():
            self.mask[4:6] = -1  # bits 128 to 191


class ByteAdapter(AsciiAdapter):
    """This engine, which checks no continuation byte."""

    def compile(self, notation, source):
        return ByteMatcher(compile_grammar(notation, source, self.options), self.vocabulary)


class WholeWordMatcher(OwnMatcher):
    """A matcher without the token `n` where `name` is allowed, as engines that force the tokens of a text.

    Such a division never has the token behind `name` in the vocabulary.
    """

    def fill_mask(self):
        super().fill_mask()
        if allows(self.mask, LONG_TOKEN):
            self.forbid(ord("n"))
        self.forbid(LONG_TOKEN + 1)

    def forbid(self, token_id):
        self.mask[token_id >> 5] &= ~(1 << (token_id & 31))


LONG_TOKEN = 257
"""The id of the token `name` behind those of bytes and the EOS."""


class WholeWordAdapter(AsciiAdapter):
    """This engine, which forces long tokens."""

    def compile(self, notation, source):
        return WholeWordMatcher(compile_grammar(notation, source, self.options), self.vocabulary)

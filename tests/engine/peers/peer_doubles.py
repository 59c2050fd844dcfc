"""Engines that do what a grammar of a test tells them to. A module of its own, so that a child finds it."""

import os
import time

from engine.peers.adapter import UnsupportedNotationError, allows, empty_mask


class DoubleMatcher:
    def __init__(self, source, vocabulary):
        self.source = source
        self.mask = empty_mask(vocabulary)

    def reset(self):
        pass

    def fill_mask(self):
        self.mask[:] = -1

    def accept(self, token_id):
        if self.source == "breaks":
            raise RuntimeError("it broke\nin two lines")
        return allows(self.mask, token_id) and self.source != "rejects"

    def is_accepting(self):
        return True


class DoubleAdapter:
    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def compile(self, notation, source):
        if notation == "gbnf":
            raise UnsupportedNotationError(notation)
        if source == "refused":
            raise ValueError("not this one")
        if source == "hangs":
            time.sleep(600)
        if source == "dies":
            os._exit(3)
        return DoubleMatcher(source, self.vocabulary)

    def forget(self):
        pass


class BrokenAdapter:
    def __init__(self, vocabulary):
        raise ImportError("a part of it is missing")


class DyingAdapter:
    def __init__(self, vocabulary):
        os._exit(1)

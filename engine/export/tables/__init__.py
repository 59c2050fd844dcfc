"""Grammars as tables that run without the engine.

Without a stack: state → token → next state. If rules nest: an automaton for each rule.
"""

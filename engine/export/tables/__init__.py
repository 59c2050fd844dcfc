"""A grammar as tables that need nothing of the engine to be run.

Without a stack: state → token → next state. Where rules nest: an automaton for each rule.
"""

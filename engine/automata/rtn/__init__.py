"""Recursive transition networks: an automaton for each rule, and the rules that are open at a position."""

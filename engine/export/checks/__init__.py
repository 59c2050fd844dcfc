"""Checks of exports: what was read back is compared with the engine on random walks.

Walks are over bytes for a text or an automaton, and over tokens and masks for an export with a vocabulary.
"""

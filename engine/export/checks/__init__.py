"""How an export is held against the engine: what was read back is walked side by side with it, at random.

Over bytes where it is a text or an automaton, over tokens and whole masks where it has a vocabulary.
"""

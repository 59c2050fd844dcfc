"""The contents of a drawing: folded chains, rules, regions and neighbourhoods of an automaton, and paths through it."""

"""What a drawing shows: folded chains, rules, regions and neighbourhoods of an automaton, and paths through it."""

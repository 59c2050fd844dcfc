"""The pushdown automaton over lexers and frames, its completions and the next property names."""

"""JSON Schema as a pushdown automaton over bytes, in four layers.

`formula` (what a value must satisfy) → `solver` (whether any value satisfies it, and the machines of arrays and
objects) → `lexing` (how scalars, keys and white space are read) → `pushdown` (frames and their stack: the
`ByteAutomaton` that a matcher steps). `string_languages`, `number_languages` and `json_encoding` are the automata of
scalars that the solver and the lexers share.
"""

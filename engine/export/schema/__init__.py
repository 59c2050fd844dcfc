"""JSON Schema as rules: its normal form over typed cases, a rule for each goal, named after the schema.

`rules` writes values, arrays and objects; `strings`, `numbers` and `sequence_automata` write their contents.
"""

"""Grammars as text in another notation.

`conversion` converts between notations, `plain_grammar` returns a job's rules; they are printed in each dialect.
"""

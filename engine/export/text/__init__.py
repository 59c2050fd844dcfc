"""A grammar as text in another notation.

`conversion` goes from one notation to another, `plain_grammar` gives a job's rules; they are printed in each dialect.
"""

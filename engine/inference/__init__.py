"""Grammars from samples: a regular expression, GBNF or a schema that accepts every sample (`infer`)."""

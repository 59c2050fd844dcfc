"""Lexers of JSON strings, numbers, keys and white space, as tables of states."""

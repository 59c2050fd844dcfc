"""Diagnosis of outputs and grammars, as prose."""

"""Notations: from text to grammar nodes and diagnostics, one package for each notation."""

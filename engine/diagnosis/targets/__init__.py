"""Findings about a grammar for a target: what its engine refuses, drops, approximates or makes slow, with rewrites."""

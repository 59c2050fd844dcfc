"""Scores of a pasted output: probabilities of its tokens and of the keys that a model would have written."""

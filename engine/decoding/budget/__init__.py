"""Completion budgets: the number of tokens that an ending needs."""

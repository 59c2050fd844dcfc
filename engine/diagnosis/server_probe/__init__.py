"""The check of a server: whether it applies a mask, from which token on, and which parts of a grammar hold there.

A statement is made only where it is proved. "In force" needs an answer that no free model could have written; "not in
force" needs one that the constraint does not allow; a refusal, an answer that was cut off, or a way of asking that the
kind of server does not have is neither.
"""

"""What several targets share: a small base for each kind, and the functions that they call.

Python packages, drawings, rules as text, and what servers make of a schema.
"""

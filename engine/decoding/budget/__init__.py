"""How many tokens an ending needs, before it is written."""

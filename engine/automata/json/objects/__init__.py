"""Objects: which keys may come next, what their values must satisfy, and whether the object can be completed."""

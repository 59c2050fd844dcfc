"""Read saved work: documents that are shared, and saved traces."""

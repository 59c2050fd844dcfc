"""Batches of requests and responses, from a folder, from JSON lines or from a log: the cause of each, in one table."""

"""Data about failures: messages of servers and engines, and samples."""

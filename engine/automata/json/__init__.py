"""JSON as it is read, byte by byte, by what its values must satisfy."""

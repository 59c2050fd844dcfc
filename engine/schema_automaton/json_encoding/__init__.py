"""Characters as the bytes that JSON writes for them: classes, escapes, length counters."""

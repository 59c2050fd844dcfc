"""What is known of failures: the messages of servers and engines."""

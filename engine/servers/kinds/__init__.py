"""The kinds of servers: each module of this package declares one as `SERVER`."""

"""The ways of asking of each kind of server: each module of this package declares them as `ASKING`."""

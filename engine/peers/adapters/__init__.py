"""The engines: each module of this package declares one as `PEER`, under the name of the module."""

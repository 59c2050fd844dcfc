"""The refactorings: each module of this package declares one as `REFACTORING`."""

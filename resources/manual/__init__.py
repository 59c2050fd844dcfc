"""The pages of the manual."""

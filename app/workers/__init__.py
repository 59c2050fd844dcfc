"""What runs in the worker processes, and the values that cross to them and back."""

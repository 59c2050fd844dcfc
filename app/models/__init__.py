"""Qt item models. They show values and decide nothing."""

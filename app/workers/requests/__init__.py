"""All requests to worker processes; each names the type of its answer."""

"""Models on disk: catalogue, fetching, inspection before any native load."""

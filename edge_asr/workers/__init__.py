"""Process isolation: the engine runs in a child that may die."""

"""One file for each kind of peer."""

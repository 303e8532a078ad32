"""The command line: options to settings, one call, rendering."""

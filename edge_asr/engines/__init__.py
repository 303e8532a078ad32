"""The only door to native recognisers."""

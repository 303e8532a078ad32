"""A small chart kit, and the plots of a bench drawn with it."""

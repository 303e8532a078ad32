"""The workstation's part: the smallest and fastest model within a word-error-rate budget."""

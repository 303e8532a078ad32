"""Tests of the workstation's part."""

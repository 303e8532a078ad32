#!/usr/lib/edge-asr/bin/python3
"""The command line of the Debian package."""

from edge_asr.cli.main import main

main()

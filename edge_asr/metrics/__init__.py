"""Every metric of the daemon, and how it is exposed."""

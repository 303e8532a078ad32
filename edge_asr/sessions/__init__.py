"""The conversation: sessions and their scheduler, without sockets."""

"""Where finals go besides the client that spoke: an MQTT broker, a command."""

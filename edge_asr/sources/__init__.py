"""Where audio comes from: files, pipes, microphones; each yields AudioChunk."""

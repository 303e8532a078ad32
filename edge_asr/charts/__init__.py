"""Charts as inline SVG, and how they look; pure."""

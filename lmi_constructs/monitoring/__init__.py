"""See the architecture page for what belongs in this room."""

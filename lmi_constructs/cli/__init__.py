"""The `lmi` command."""

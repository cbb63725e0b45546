"""Tools of the maintainers; not part of the installed package."""

"""The one place where the version of the package is written."""

__version__ = "0.1.0"

"""syncscope: find, count and compare the places where Python waits for a GPU."""

__version__ = "0.1.0"

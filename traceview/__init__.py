"""traceview: tell people what their GPU really did."""

__version__ = "0.1.0"

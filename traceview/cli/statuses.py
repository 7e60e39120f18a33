"""Exit statuses beside those that errors have (traceview.errors)."""

INTERRUPTED, BROKEN_PIPE, INTERNAL = 130, 141, 70

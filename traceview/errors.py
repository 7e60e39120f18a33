"""Errors that a user can cause: what happened, where, what to do next, and the exit status."""


class TraceviewError(Exception):
    """Say what went wrong, and what to do next, in one line each.

    `slug` names the documentation entry, `status` is the exit status of the command line
    (see the table in the README).
    """

    slug = "error"
    status = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageError(TraceviewError):
    """Refuse wrong usage: an unknown option value, an output that exists without --force."""

    slug = "usage"
    status = 2


class InputError(TraceviewError):
    """Refuse an input that cannot be read, or holds no event that can be used."""

    slug = "unreadable-input"
    status = 3


class InstallationError(TraceviewError):
    """Report a package that traceview needs and that is not installed."""

    slug = "missing-package"
    status = 70


class OutputError(TraceviewError):
    """Report that a result could not be written."""

    slug = "unwritable-output"
    status = 5

"""Calls of a server's endpoints: bounded in time and in size, to the host that was named and to no other.

http.client follows no redirect, opens no file and asks no proxy. Its timeout is one of each read, and a server that
sends a byte a second never exceeds it: so each call has a thread of its own, and is left when its time is up.
"""

from __future__ import annotations

import base64
import json
import queue
import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from traceview.errors import UsageError
from traceview.units import middle

BODY = 4 << 20  # bytes of an answer; vLLM describes its interface in some 300 kB
_BLOCK = 1 << 16
_LONGEST_S = 86_400.0  # sockets and queues take no timeout of any size
_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[\w.:%-]+")


class CallError(Exception):
    """Say why there is no answer; where the call `arrived`, the server may have done what it asks all the same."""

    def __init__(self, why: str, arrived: bool) -> None:
        super().__init__(why)
        self.arrived = arrived


class Answer(NamedTuple):
    """Hold the status of an answer, and what it says."""

    status: int
    body: bytes

    @property
    def good(self) -> bool:
        """Tell whether the call did what it asks."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Address:
    """Hold where a server listens; its text is fit to show: without name and password."""

    scheme: str
    host: str
    port: int
    path: str
    login: str = field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown

    @classmethod
    def parsed(cls, url: str) -> Address:
        """Take an address apart; raise UsageError for what is none."""
        refusal = UsageError(f"{_discreet(url)}: no address of a server", "write it as http://127.0.0.1:8000")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:  # a port that is no number, a bracket alone
            raise refusal from None
        host = parts.hostname or ""
        if parts.scheme not in _PORTS or not _HOST.fullmatch(host):
            raise refusal
        if re.search(r"[\x00-\x20\x7f]", url) or parts.query or parts.fragment:
            raise refusal
        login = ""
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        path = quote(parts.path.rstrip("/"), safe="/%~!$&'()*+,;=:@")
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"
        return cls(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path, login, shown)


def _discreet(url: str) -> str:
    """Return what of a text may be shown: nothing before the last @, where a password stands; no query."""
    before, at, rest = url.rpartition("@")
    scheme = re.match(r"[A-Za-z]+://", before)
    rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    return f"{scheme[0] if scheme else ''}…@{rest}" if at else rest


def get(address: Address, path: str, timeout: float) -> Answer:
    """Ask for what a path holds; raise CallError where no answer comes."""
    return _within(_Call(address, "GET", path, None), timeout)


def post(address: Address, path: str, body: object, timeout: float) -> Answer:
    """Ask to do what a path stands for, and return without reading more than the status; raise CallError likewise."""
    return _within(_Call(address, "POST", path, None if body is None else json.dumps(body).encode()), timeout)


class _Call:
    """Make one call, in any thread."""

    def __init__(self, address: Address, method: str, path: str, data: bytes | None) -> None:
        self._address, self._method, self._path, self._data = address, method, path, data
        self._connection: HTTPConnection | None = None
        self.arrived = False
        self.outcome: queue.SimpleQueue[Answer | CallError] = queue.SimpleQueue()

    def make(self, timeout: float) -> None:
        """Put the answer, or why there is none, into `outcome`."""
        try:
            self.outcome.put(self._exchange(timeout))
        except CallError as error:
            self.outcome.put(error)
        except TimeoutError:
            self.outcome.put(CallError(_late(timeout), self.arrived))
        except (OSError, HTTPException, ValueError) as error:  # UnicodeError: a host's name of no length
            self.outcome.put(CallError(_reason(error), self.arrived))

    def _exchange(self, timeout: float) -> Answer:
        end = time.monotonic() + timeout
        address = self._address
        kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
        connection = self._connection = kind(address.host, address.port, timeout=timeout)
        try:
            connection.connect()
            self.arrived = True
            connection.request(self._method, address.path + self._path, self._data, self._headers())
            with connection.getresponse() as answer:  # who leaves it open leaves the socket open
                return Answer(answer.status, self._body(answer, end))
        finally:
            connection.close()

    def _body(self, answer: HTTPResponse, end: float) -> bytes:
        body = bytearray()
        while self._method == "GET" and (block := answer.read1(_BLOCK)):
            body += block
            if len(body) > BODY:
                raise CallError(f"an answer of more than {BODY >> 20} MiB", True)
            if time.monotonic() > end:
                raise TimeoutError
        return bytes(body)

    def _headers(self) -> dict[str, str]:
        headers = {"Connection": "close"}
        if self._data is not None:
            headers["Content-Type"] = "application/json"
        if self._address.login:
            headers["Authorization"] = f"Basic {base64.b64encode(self._address.login.encode()).decode()}"
        return headers

    def abandon(self) -> None:
        """Wake the thread of a call that nobody waits for any more."""
        if self._connection is not None and isinstance(self._connection.sock, socket.socket):
            with suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)


def _within(call: _Call, timeout: float) -> Answer:
    timeout = min(max(timeout, 0.001), _LONGEST_S)
    threading.Thread(target=call.make, args=(timeout,), daemon=True).start()
    try:
        outcome = call.outcome.get(timeout=timeout)
    except queue.Empty:
        call.abandon()
        raise CallError(_late(timeout), call.arrived) from None
    if isinstance(outcome, CallError):
        raise outcome
    return outcome


def _late(timeout: float) -> str:
    return f"no whole answer within {timeout:g} s"


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return middle(error.strerror or str(error) or type(error).__name__, 120)
    if isinstance(error, HTTPException):
        return f"what answers does not speak HTTP: {type(error).__name__}"
    return middle(str(error), 120)

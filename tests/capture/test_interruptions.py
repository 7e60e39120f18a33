"""Signals that come while a window is kept: none is lost, and what has its name gets whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.capture.making import iterations, leftovers, loop
from traceview.capture import conditions, naming, record, verification, writing
from traceview.capture.guard import attempt
from traceview.capture.interruptions import Held

NUMBER, OTHER = signal.SIGTERM, signal.SIGINT


class Preempted(Exception):  # noqa: N818 - as jobs call it
    """Be what a job may raise when it is told to make room."""


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    """Leave the handlers of this process as they were."""
    before = {n: signal.getsignal(n) for n in (NUMBER, OTHER)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def raises(error: BaseException, number: int = NUMBER) -> Callable[..., None]:
    """Let a signal raise an error; return its handler."""

    def handler(*_: object) -> None:
        raise error

    signal.signal(number, handler)
    return handler


def noted() -> list[int]:
    """Let signals be noted and nothing else; return the notes."""
    came: list[int] = []
    for number in (NUMBER, OTHER):
        signal.signal(number, lambda number, _: came.append(number))
    return came


def interrupt(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, times: int = 1) -> list[int]:
    """Let signals come behind the first call of a function, where what they raise is lost; return how far it got."""
    plain = getattr(place, name)
    got: list[int] = []

    def called(*args: Any, **kwargs: Any) -> Any:
        result = plain(*args, **kwargs)
        if not got:
            with suppress(BaseException):  # as numpy does where it looks for attributes
                for number in range(times):
                    got.append(number)
                    signal.raise_signal(NUMBER)
                got.append(times)
        return result

    monkeypatch.setattr(place, name, called)
    return got


def recorded(torch: Any, folder: Path, steps: int = 3, repeat: int = 1) -> Any:
    """Record windows of two iterations behind a warm-up of one."""
    with record("t", folder, wait=0, warmup=1, active=2, repeat=repeat, quiet=True) as recording:
        loop(torch, recording, steps)
    return recording


ERRORS = [KeyboardInterrupt(), SystemExit(143), Preempted("now"), TimeoutError("late")]
PLACES = {
    "named": (naming, "_claimed"),
    "described": (conditions, "describe"),
    "opened": (verification, "check"),
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("steps", [5, 2], ids=["in step()", "in the end of the loop"])
def test_what_a_handler_raises_gets_to_the_job_and_the_window_gets_whole(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, place: str, steps: int
) -> None:
    got = interrupt(monkeypatch, *PLACES[place])
    handler = raises(error)
    with pytest.raises(type(error)) as raised:
        recorded(torch, tmp_path, steps)
    assert raised.value is error
    assert got == [0, 1]
    (trace,) = tmp_path.glob("t-*-w0.pt.trace.json.gz")
    assert trace.with_name(trace.name.replace("pt.trace.json.gz", "capture.json")).exists()
    assert leftovers(tmp_path) == []
    assert signal.getsignal(NUMBER) is handler
    (second,) = recorded(torch, tmp_path / "again").files  # and torch's profiler is free
    assert iterations(second) == [1, 2]


@pytest.mark.parametrize("place", PLACES)
def test_a_handler_that_only_notes_is_called_once_and_the_recording_goes_on(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    came, got = noted(), interrupt(monkeypatch, *PLACES[place])
    assert len(recorded(torch, tmp_path, 9, repeat=2).files) == 2
    assert (came, got) == ([NUMBER], [0, 1])


def test_a_second_signal_of_a_kind_does_not_wait_and_is_not_lost(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got = interrupt(monkeypatch, verification, "check", times=3)
    raises(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        recorded(torch, tmp_path)
    assert got == [0, 1]  # it came out of the second one


def test_two_signals_of_a_kind_are_two_calls_of_the_handler() -> None:
    came = noted()
    with Held(lambda: True):
        signal.raise_signal(NUMBER)
        assert came == []
        signal.raise_signal(OTHER)
        signal.raise_signal(NUMBER)
        assert came == [NUMBER, NUMBER]
        signal.raise_signal(NUMBER)
        assert came == [NUMBER] * 3
    assert came == [NUMBER] * 3 + [OTHER]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_who_ends_a_job_while_its_trace_is_written_does_so_at_once(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    plain = writing._copy

    def copy(*streams: Any) -> None:
        signal.raise_signal(NUMBER)
        plain(*streams)
        pytest.fail("it went on")

    monkeypatch.setattr(writing, "_copy", copy)
    raises(error)
    with pytest.raises(type(error)):
        recorded(torch, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_raised_while_the_trace_is_written_is_no_failure_of_torch(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt(monkeypatch, writing, "_export")  # which loses it
    raises(Preempted())
    with pytest.raises(Preempted):
        recorded(torch, tmp_path)
    assert "failed" not in capsys.readouterr().err


def test_every_signal_that_waited_is_handed_on_whatever_the_others_raise() -> None:
    came = noted()
    raises(Preempted(), OTHER)  # of the lower number, and first in any case
    with pytest.raises(Preempted), Held(lambda: True):  # noqa: PT012 - it is raised at the end
        signal.raise_signal(OTHER)
        signal.raise_signal(NUMBER)
    assert came == [NUMBER]


def test_a_handler_that_is_set_meanwhile_stays() -> None:
    noted()
    with Held(lambda: True):
        mine = raises(Preempted())
    assert signal.getsignal(NUMBER) is mine
    assert signal.getsignal(OTHER) != mine


def test_what_is_not_pythons_is_left_alone() -> None:
    signal.signal(NUMBER, signal.SIG_DFL)
    signal.signal(OTHER, signal.SIG_IGN)
    with Held(lambda: True):
        assert signal.getsignal(NUMBER) is signal.SIG_DFL
        assert signal.getsignal(OTHER) is signal.SIG_IGN


def test_another_thread_holds_nothing(torch: Any, tmp_path: Path) -> None:
    handler, seen = raises(Preempted()), []

    def job() -> None:
        with Held(lambda: True):
            seen.append(signal.getsignal(NUMBER))
        seen.append(len(recorded(torch, tmp_path).files))

    thread = threading.Thread(target=job)
    thread.start()
    thread.join()
    assert seen == [handler, 1]


class Handler:
    """Be what can be a handler: an object, and a method."""

    def __call__(self, number: int, frame: FrameType | None) -> None:
        signal.signal(number, self.other)  # where a job is patient no longer
        raise Preempted

    def other(self, number: int, frame: FrameType | None) -> None:
        raise Preempted


@pytest.mark.parametrize(
    "handler",
    [Handler().other, partial(Handler.other, Handler()), lambda *_: Handler().other(0, None)],
    ids=["method", "partial", "lambda"],
)
def test_what_any_handler_raises_is_no_failure_of_ours(handler: Any) -> None:
    signal.signal(NUMBER, handler)
    with pytest.raises(Preempted):
        attempt("the check", lambda: signal.raise_signal(NUMBER))


def test_a_handler_that_takes_itself_away_gets_through_too() -> None:
    signal.signal(NUMBER, Handler())
    with pytest.raises(Preempted), Held(bool):
        attempt("the check", lambda: signal.raise_signal(NUMBER))


def test_a_failure_is_still_no_signal(capsys: pytest.CaptureFixture[str]) -> None:
    raises(Preempted())

    def fails() -> None:
        raise Preempted("by itself")

    attempt("the check", fails)
    assert "the check failed (Preempted: by itself); the job goes on" in capsys.readouterr().err


def test_a_signal_before_the_loop_gets_to_the_job(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def preflight(*_: object) -> list[str]:
        signal.raise_signal(NUMBER)
        return []

    monkeypatch.setattr(verification, "preflight", preflight)
    raises(Preempted())
    with pytest.raises(Preempted):
        recorded(torch, tmp_path)

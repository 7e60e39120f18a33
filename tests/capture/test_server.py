"""Serving engines, played on the loopback by what follows their documented interface."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from tests.architecture.source import ROOT
from traceview.capture import server, server_calls
from traceview.cli import run
from traceview.errors import InputError, UsageError
from traceview.sources.choose import is_whole_trace

TRACE = gzip.compress(
    json.dumps({"traceEvents": [making.op("aten::mm", i, 1) for i in range(2000)]}).encode()
)


class Engine:
    """Stand in for a server: what it describes, counts and answers, and when its file comes."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder, self.kind = folder, kind
        self.calls: list[tuple[str, Any]] = []
        self.described = True
        self.endpoints = ["/start_profile", "/stop_profile"]
        self.steps_per_poll: float | None = 4.0
        self.steps = 100.0
        self.start_takes = self.stop_takes = 0.0
        self.writes = 1
        self.pauses: dict[int, float] = {}  # of a rank, in the middle of its file
        self.late: dict[int, float] = {}  # of a rank, before its file
        self.status = 200
        self.reaches_its_steps = True
        self.headers: dict[str, str | None] = {}

    @property
    def called(self) -> list[str]:
        return [path for path, _ in self.calls]

    def get(self, path: str) -> tuple[int, str]:
        if path == "/openapi.json" and self.described:
            with_body = {"requestBody": {}} if self.kind == "sglang" else {}
            return 200, json.dumps({"paths": {p: {"post": with_body} for p in self.endpoints}})
        if path == "/metrics" and self.steps_per_poll is not None:
            self.steps += self.steps_per_poll
            count = f'vllm:iteration_tokens_total_count{{engine="0"}} {self.steps}'
            return 200, f"# TYPE vllm:iteration_tokens_total histogram\n{count}\n"
        return 404, ""

    def post(self, path: str, body: bytes) -> int:
        self.calls.append((path, json.loads(body) if body else None))
        if path not in self.endpoints:
            return 404
        if path == "/start_profile":
            time.sleep(self.start_takes)
            if self.kind == "sglang" and self.reaches_its_steps:
                threading.Thread(target=self.write).start()
        if path == "/stop_profile":
            if self.kind == "sglang" and self.reaches_its_steps:
                return 500  # it has stopped by itself
            threading.Thread(target=self.write).start()
            time.sleep(self.stop_takes)
        return self.status

    def write(self) -> None:
        """Write each rank's trace in two goes, as a slow disk does."""
        for rank in range(self.writes):
            time.sleep(self.late.get(rank, 0))
            with (self.folder / f"host_rank{rank}.pt.trace.json.gz").open("wb") as file:
                file.write(TRACE[: len(TRACE) // 2])
                file.flush()
                time.sleep(self.pauses.get(rank, 0.15))
                file.write(TRACE[len(TRACE) // 2 :])


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], tuple[Engine, str]]]:
    """Start an engine on the loopback; return it and its address."""
    monkeypatch.setattr(server, "_SETTLED_S", 0.3)
    monkeypatch.setattr(server, "_PAUSE_S", 0.05)
    (tmp_path / "out").mkdir()
    running = []

    def start(kind: str) -> tuple[Engine, str]:
        engine = Engine(tmp_path / "out", kind)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                engine.headers = {k: self.headers[k] for k in ("Authorization", "Host")}
                status, text = engine.get(self.path)
                self.answer(status, text)

            def do_POST(self) -> None:
                self.answer(
                    engine.post(self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
                )

            def answer(self, status: int, text: str = "") -> None:
                with suppress(OSError):  # nobody waits any more
                    self.send_response(status)
                    self.end_headers()
                    self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        here = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=here.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        running.append(here)
        return engine, f"http://127.0.0.1:{here.server_port}"

    yield start
    for here in running:
        here.shutdown()
        here.server_close()


Answers = dict[str, list[bytes | float]]
OK = b"HTTP/1.1 200 OK\r\n\r\n"
DESCRIBED = (
    OK + json.dumps({"paths": {"/start_profile": {"post": {}}, "/stop_profile": {"post": {}}}}).encode()
)


@pytest.fixture
def answering() -> Iterator[Callable[[Answers], tuple[str, list[str]]]]:
    """Start what answers a path with given bytes, waiting where seconds stand; return its address and the paths."""
    open_sockets: list[socket.socket] = []

    def start(answers: Answers) -> tuple[str, list[str]]:
        asked: list[str] = []
        here = socket.create_server(("127.0.0.1", 0))
        open_sockets.append(here)

        def talk(there: socket.socket) -> None:
            with there, suppress(OSError):
                path = there.recv(65536).split(b" ")[1].decode()
                asked.append(path)
                for part in answers.get(path, [b"HTTP/1.1 404 Not Found\r\n\r\n"]):
                    time.sleep(part) if isinstance(part, float) else there.sendall(part)

        def listen() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=talk, args=(here.accept()[0],), daemon=True).start()

        threading.Thread(target=listen, daemon=True).start()
        return f"http://127.0.0.1:{here.getsockname()[1]}", asked

    yield start
    for here in open_sockets:
        with suppress(OSError):
            here.shutdown(socket.SHUT_RDWR)
        here.close()


def mute(_: str) -> None:
    """Say nothing."""


def command(url: str, folder: Path, *words: str) -> list[str]:
    return ["capture", "--server", url, "-o", str(folder), "--active", "20", "--patience", "5", *words]


def test_vllm_is_stopped_after_its_steps(
    serve: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    assert run(command(url, engine.folder)) == 0
    assert engine.calls == [("/start_profile", None), ("/stop_profile", None)]
    assert 120 <= engine.steps <= 140  # 20 steps after the first look, in steps of four, and one look more
    said = capsys.readouterr()
    assert "profiling 20 steps, at most 30 s, of a vLLM server" in said.err
    assert f"wrote {engine.folder / 'host_rank0.pt.trace.json.gz'}" in said.out
    assert is_whole_trace(engine.folder / "host_rank0.pt.trace.json.gz")


def counted(counts: dict[str, float]) -> str:
    return "".join(
        f'vllm:iteration_tokens_total_count{{engine="{e}",model_name="m"}} {n}\n' for e, n in counts.items()
    )


@pytest.mark.parametrize(
    ("each_poll", "made"),
    [
        ((4, 4, 4, 4), (20, 20, 20, 20)),  # not after five steps of each
        ((4, 2), (40, 20)),  # the slower one has its steps too
        ((4, 1), (40, 10)),  # but is not waited for for ever
        ((4, 0, 0), (20, 0, 0)),  # who is idle is not waited for at all
    ],
)
def test_every_engine_of_a_data_parallel_server_makes_its_steps(
    each_poll: tuple[float, ...], made: tuple[float, ...], serve: Any
) -> None:
    engine, url = serve("vllm")
    counts = {str(e): 100.0 + e for e in range(len(each_poll))}

    def get(path: str) -> tuple[int, str]:
        if path != "/metrics":
            return Engine.get(engine, path)
        for e, n in enumerate(each_poll):
            counts[str(e)] += n
        return 200, counted(counts)

    engine.get = get
    assert run(command(url, engine.folder)) == 0
    first_look = [100.0 + e + n for e, n in enumerate(each_poll)]
    assert tuple(n - first for n, first in zip(counts.values(), first_look, strict=True)) == made


def test_an_engine_that_comes_later_or_is_started_anew_counts_from_its_begin(serve: Any) -> None:
    engine, url = serve("vllm")
    looks = iter([{"0": 100.0}, {"0": 5.0, "1": 10.0}, {"0": 21.0, "1": 19.0}, {"0": 22.0, "1": 20.0}])
    engine.get = lambda path: (200, counted(next(looks))) if path == "/metrics" else Engine.get(engine, path)
    assert run(command(url, engine.folder)) == 0
    assert list(looks) == []  # not before both had 20, and not after


def test_sglang_is_given_the_number_of_steps_and_the_folder(serve: Any) -> None:
    engine, url = serve("sglang")
    assert run(command(url, engine.folder, "--shapes")) == 0
    ((path, body),) = engine.calls  # it stops by itself
    assert path == "/start_profile"
    assert body == {
        "output_dir": str(engine.folder), "num_steps": 20, "activities": ["CPU", "GPU"],
        "with_stack": False, "record_shapes": True,
    }  # fmt: skip


def test_the_files_of_all_ranks_are_waited_for(serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    engine, url = serve("vllm")
    engine.writes = 3
    assert run(command(url, engine.folder)) == 0
    assert capsys.readouterr().out.count("wrote ") == 3


def test_a_stop_that_never_answers_is_no_failure_where_the_file_comes(serve: Any) -> None:
    engine, url = serve("vllm")
    engine.stop_takes = 3.0
    wishes = server.Wishes(engine.folder, 4, 30, 1.0)
    assert [p.name for p in server.capture_server(url, wishes, mute)] == ["host_rank0.pt.trace.json.gz"]


def test_a_server_that_counts_no_steps_is_bounded_by_time(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    engine.steps_per_poll = None
    start = time.monotonic()
    assert run(command(url, engine.folder, "--seconds", "0.2")) == 0
    assert time.monotonic() - start < 4
    assert "bounded by time alone" in capsys.readouterr().err


def test_an_idle_server_is_bounded_by_time_too(serve: Any) -> None:
    engine, url = serve("vllm")
    engine.steps_per_poll = 0.0
    assert run(command(url, engine.folder, "--seconds", "0.2")) == 0
    assert [path for path, _ in engine.calls] == ["/start_profile", "/stop_profile"]


def test_a_server_that_describes_nothing_is_tried(serve: Any) -> None:
    engine, url = serve("vllm")
    engine.described = False
    assert run(command(url, engine.folder)) == 0


@pytest.mark.parametrize("described", [True, False], ids=["described", "tried"])
def test_a_server_without_a_profiler_is_told_how_to_start_with_one(
    serve: Any, described: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    engine.endpoints, engine.described = [], described
    assert run(command(url, engine.folder)) == 3
    said = capsys.readouterr().err
    assert "the server has no /start_profile" in said
    assert "--profiler-config" in said


def test_a_refusal_is_said(serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    engine, url = serve("vllm")
    engine.status = 500
    assert run(command(url, engine.folder)) == 3
    assert "/start_profile was refused (500)" in capsys.readouterr().err


def test_no_file_within_the_patience_is_said(serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    engine, url = serve("vllm")
    engine.writes = 0
    assert run([*command(url, engine.folder), "--patience", "1"]) == 3
    assert "no trace appeared in" in capsys.readouterr().err


def test_a_trace_that_was_there_before_is_not_taken_for_the_new_one(serve: Any) -> None:
    engine, url = serve("vllm")
    (engine.folder / "old.json.gz").write_bytes(TRACE)
    wishes = server.Wishes(engine.folder, 4, 30, 3.0)
    assert [p.name for p in server.capture_server(url, wishes, mute)] == ["host_rank0.pt.trace.json.gz"]


NO_ADDRESSES = [
    "ftp://x", "localhost:8000", "file:///etc/passwd", "http://h:abc", "http://h:70000", "http://a b", "http://[::1",
    "http://", "http:///x", "http://h/\r\nX: y", "http://h?x=1", "http://h#x", " http://h",
]  # fmt: skip


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_what_is_no_address_is_refused(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command(url, tmp_path / "out")) == 2
    assert "no address of a server" in capsys.readouterr().err


def test_a_silent_address_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command("http://127.0.0.1:9", tmp_path / "out")) == 3
    assert "no answer" in capsys.readouterr().err


def test_a_server_and_a_script_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capture", "--server", "http://127.0.0.1:9", "--", "x.py"]) == 2


def test_a_trace_is_whole_only_with_its_end(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    for data, whole in ((TRACE, True), (TRACE[:-20], False), (gzip.decompress(TRACE), True)):
        path.write_bytes(data)
        assert is_whole_trace(path) is whole
    path.write_bytes(gzip.decompress(TRACE)[:-200])
    assert not is_whole_trace(path)


def started(words: list[str]) -> subprocess.Popen[str]:
    """Start the command so that Ctrl-C reaches it: what runs in a shell's background ignores it, and so do its children."""
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=heard)  # noqa: PLW1509


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("kind", "told", "status"),
    [("vllm", signal.SIGINT, 130), ("vllm", signal.SIGTERM, 143), ("sglang", signal.SIGTERM, 143)],
)
def test_a_server_is_told_to_stop_once_where_we_are_interrupted(
    serve: Any, kind: str, told: signal.Signals, status: int
) -> None:
    engine, url = serve(kind)
    engine.steps_per_poll, engine.reaches_its_steps = 0.0, False
    words = [sys.executable, "-m", "traceview", *command(url, engine.folder)]
    with started(words) as ours:
        until(lambda: engine.calls)
        time.sleep(0.3)  # into the waiting
        ours.send_signal(told)
        assert "Traceback" not in ours.communicate(timeout=20)[1]
    assert ours.returncode == status
    assert engine.called == ["/start_profile", "/stop_profile"]


def test_an_interruption_while_files_are_waited_for_stops_no_second_time(serve: Any) -> None:
    engine, url = serve("vllm")
    engine.writes = 0
    words = [sys.executable, "-m", "traceview", *command(url, engine.folder, "--patience", "60")]
    with started(words) as ours:
        until(lambda: "/stop_profile" in engine.called)
        time.sleep(0.2)
        ours.send_signal(signal.SIGINT)
        ours.communicate(timeout=20)
    assert ours.returncode == 130
    assert engine.called == ["/start_profile", "/stop_profile"]


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_failure_while_waiting_stops_the_server_too(serve: Any, kind: str) -> None:
    engine, url = serve(kind)
    engine.reaches_its_steps = False

    def fail(_: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        server.capture_server(url, server.Wishes(engine.folder, 4, 30, 1.0), fail)
    assert engine.called == ["/start_profile", "/stop_profile"]


def test_a_start_that_was_not_answered_may_have_started_and_is_stopped(
    serve: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    monkeypatch.setattr(server, "_START_S", 0.2)
    engine.start_takes = 1.0
    assert run(command(url, engine.folder)) == 3
    assert engine.called == ["/start_profile", "/stop_profile"]
    assert "/start_profile failed (no whole answer within 0.2 s)" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "stopped"), [(500, False), (404, False), (401, False), (504, True)])
def test_a_start_that_was_refused_stops_nobody_elses_profile(serve: Any, status: int, stopped: bool) -> None:
    engine, url = serve("vllm")
    engine.status = status
    assert run(command(url, engine.folder)) == 3
    assert ("/stop_profile" in engine.called) is stopped  # a proxy's 504 does not tell


def test_sglang_is_told_to_stop_where_its_steps_are_never_made(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("sglang")
    engine.reaches_its_steps = False
    assert run(command(url, engine.folder, "--seconds", "0.3")) == 0
    assert engine.called == ["/start_profile", "/stop_profile"]
    assert "no file within 0.3 s: the server is told to stop" in capsys.readouterr().err


def test_a_sglang_server_without_an_end_is_not_told_what_it_does_not_know(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("sglang")
    engine.endpoints, engine.reaches_its_steps = ["/start_profile"], False
    assert run([*command(url, engine.folder, "--seconds", "0.2"), "--patience", "1"]) == 3
    assert engine.called == ["/start_profile"]
    assert "has no /stop_profile: it profiles until its steps are made" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_the_half_written_file_of_another_rank_is_waited_for(
    serve: Any, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve(kind)
    engine.writes, engine.pauses = 2, {1: 1.5}  # five times what settles a file
    assert run(command(url, engine.folder)) == 0
    said = capsys.readouterr()
    assert said.out.count("wrote ") == 2
    assert "written by the server: host_rank0.pt.trace.json.gz, host_rank1.pt.trace.json.gz" in said.err


def test_a_file_that_never_gets_whole_is_named_and_left_out(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    engine.writes, engine.pauses = 2, {1: 3.0}
    assert run([*command(url, engine.folder), "--patience", "1.5"]) == 0
    said = capsys.readouterr()
    assert said.out.count("wrote ") == 1
    assert "warning: not whole within 1.5 s, and left out: host_rank1.pt.trace.json.gz" in said.err


def test_none_whole_is_an_error_that_names_what_there_is(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    engine.pauses = {0: 3.0}
    assert run([*command(url, engine.folder), "--patience", "1"]) == 3
    assert "was whole within 1 s (host_rank0.pt.trace.json.gz)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "beginning", [b"", TRACE[:10], b'{"schemaVersion": 1, "devi'], ids=["empty", "packed", "plain"]
)
def test_a_file_without_its_event_list_yet_is_waited_for_by_its_name(
    serve: Any, beginning: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("vllm")
    other = engine.folder / "other_rank1.pt.trace.json"

    said: list[str] = []

    def begin(text: str) -> None:
        said.append(text)
        if "profiling" in text:
            other.write_bytes(beginning)

    found = server.capture_server(url, server.Wishes(engine.folder, 4, 30, 1.5), begin)
    assert [p.name for p in found] == ["host_rank0.pt.trace.json.gz"]
    assert any("left out: other_rank1.pt.trace.json" in line for line in said)


def test_the_file_of_a_rank_that_comes_late_is_waited_for(
    serve: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    engine, url = serve("sglang")
    engine.writes, engine.late = 3, {1: 0.2, 2: 0.2}  # each within what settles, all together beyond it
    assert run(command(url, engine.folder)) == 0
    assert capsys.readouterr().out.count("wrote ") == 3


def test_what_is_no_trace_holds_nobody_up(serve: Any) -> None:
    engine, url = serve("vllm")

    def write(_: str) -> None:
        (engine.folder / "profiler_out_0.txt").write_text("Name  Self CPU\n")
        (engine.folder / "memory.pickle").write_bytes(b"\x80\x04")
        (engine.folder / "settings.json").write_text('{"profiler": "torch"}')
        (engine.folder / "gone.json").unlink(missing_ok=True)

    begun = time.monotonic()
    found = server.capture_server(url, server.Wishes(engine.folder, 4, 30, 20), write)
    assert [p.name for p in found] == ["host_rank0.pt.trace.json.gz"]
    assert time.monotonic() - begun < 8


GARBAGE: list[list[bytes | float]] = [
    [b"\x00\xff not HTTP\r\n\r\n"],
    [b""],
    [b"HTTP/1.1 abc\r\n\r\n"],
    [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
    [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
    [b"HTTP/1.1 200 OK\r\n" + b"A" * 70_000 + b"\r\n\r\n"],
    [OK + b"<html>"],
    [OK + b"[" * 200_000],
    [OK + b"[]"],
    [OK + b'{"paths": null}'],
    [OK + b'{"paths": ["/start_profile"]}'],
    [OK + b"\xff\xfe"],
]


@pytest.mark.parametrize("answer", GARBAGE)
def test_what_is_no_description_is_said_in_a_line(
    answering: Any, answer: list[bytes | float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, asked = answering({"/openapi.json": answer})
    assert run(command(url, tmp_path / "out")) == 3
    assert asked == ["/openapi.json"]
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "no answer" in said or "describes no interface" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("way", [b"null", b'{"post": null}', b"[]", b'{"post": []}'])
def test_an_endpoint_that_is_hardly_described_is_called_as_it_is(
    answering: Any, way: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, asked = answering({"/openapi.json": [OK + b'{"paths": {"/start_profile": %s}}' % way]})
    assert run(command(url, tmp_path / "out")) == 3
    assert "the server has no /start_profile" in capsys.readouterr().err  # 404
    assert asked == ["/openapi.json", "/metrics", "/start_profile"]


@pytest.mark.parametrize("answer", GARBAGE[:6])
def test_garbage_for_an_answer_to_start_is_said_and_stopped(
    answering: Any, answer: list[bytes | float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, asked = answering({"/openapi.json": [DESCRIBED], "/start_profile": answer, "/stop_profile": [OK]})
    words = [*command(url, tmp_path / "out"), "--patience", "1", "--seconds", "0.1"]
    assert run(words) == 3
    assert asked.count("/stop_profile") == 1
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert "/start_profile failed" in said or "no trace appeared" in said  # a good status line is enough


@pytest.mark.parametrize("answer", GARBAGE[:6])
def test_garbage_for_an_answer_to_stop_is_no_failure_where_the_file_comes(
    answering: Any, answer: list[bytes | float], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(server, "_SETTLED_S", 0.3)
    url, asked = answering({"/openapi.json": [DESCRIBED], "/start_profile": [OK], "/stop_profile": answer})

    def write(text: str) -> None:
        if "profiling" in text:
            (tmp_path / "a.json.gz").write_bytes(TRACE)

    found = server.capture_server(url, server.Wishes(tmp_path, 4, 0.1, 5), write)
    assert [p.name for p in found] == ["a.json.gz"]
    assert asked.count("/stop_profile") == 1


def test_a_stop_that_is_refused_is_said(answering: Any, tmp_path: Path) -> None:
    refusal: list[bytes | float] = [b"HTTP/1.1 500 No\r\n\r\n"]
    url, _ = answering({"/openapi.json": [DESCRIBED], "/start_profile": [OK], "/stop_profile": refusal})
    said: list[str] = []
    with pytest.raises(InputError, match="no trace appeared"):
        server.capture_server(url, server.Wishes(tmp_path, 4, 0.1, 1), said.append)
    warnings = [line for line in said if line.startswith("warning:")]
    assert warnings == [
        f"warning: {url}: /stop_profile was not confirmed (refused, 500): it may go on profiling"
    ]


DRIP: list[bytes | float] = [part for _ in range(100) for part in (b" ", 0.05)]


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\nA: ", OK, OK + b"{}"])
def test_an_answer_of_a_byte_now_and_then_ends_with_the_time_for_it(
    answering: Any, beginning: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(server, "_CALL_S", 0.4)
    url, _ = answering({"/openapi.json": [beginning, *DRIP]})
    begun = time.monotonic()
    assert run(command(url, tmp_path / "out")) == 3
    assert time.monotonic() - begun < 2
    assert "within 0.4 s" in capsys.readouterr().err


def test_an_answer_without_end_is_not_read_to_its_end(
    answering: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server_calls, "BODY", 1 << 20)
    url, _ = answering({"/openapi.json": [OK, *[b" " * (1 << 20)] * 64]})
    assert run(command(url, tmp_path / "out")) == 3
    assert "an answer of more than 1 MiB" in capsys.readouterr().err


def test_metrics_that_hang_are_bounded_by_the_seconds(answering: Any, tmp_path: Path) -> None:
    counted = OK + b"vllm:iteration_tokens_total_count 7\n"
    answers: Answers = {
        "/openapi.json": [DESCRIBED], "/start_profile": [OK], "/stop_profile": [OK], "/metrics": [counted],
    }  # fmt: skip
    url, _ = answering(answers)

    def hang(_: str) -> None:
        answers["/metrics"] = [OK, 60.0]

    begun = time.monotonic()
    with pytest.raises(InputError):
        server.capture_server(url, server.Wishes(tmp_path, 4, 0.5, 1), hang)
    assert time.monotonic() - begun < 4


@pytest.mark.parametrize("path", ["/openapi.json", "/start_profile"])
@pytest.mark.parametrize("where", ["other", "file:///etc/passwd", "same"])
def test_no_redirect_is_followed(answering: Any, path: str, where: str, tmp_path: Path) -> None:
    other, asked_there = answering({})
    url, asked = answering(answers := {"/openapi.json": [DESCRIBED]})
    to = {"other": other, "same": url + "/else"}.get(where, where)
    answers[path] = [f"HTTP/1.1 307 Over there\r\nLocation: {to}\r\n\r\n".encode()]
    assert run(command(url, tmp_path / "out")) == 3
    assert asked_there == []
    assert not {"/else", "/stop_profile"} & set(asked)


def test_no_proxy_is_asked(serve: Any, answering: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, url = serve("vllm")
    proxy, asked = answering({})
    monkeypatch.setenv("http_proxy", proxy)
    assert run(command(url, engine.folder)) == 0
    assert asked == []


def test_a_password_is_used_and_never_shown(serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    engine, url = serve("vllm")
    assert run(command(url.replace("http://", "HTTP://me:s%20cret@"), engine.folder)) == 0
    assert engine.headers["Authorization"] == "Basic bWU6cyBjcmV0"  # me:s cret
    assert engine.headers["Host"] == url.removeprefix("http://")
    said = capsys.readouterr()
    assert "cret" not in said.out + said.err


@pytest.mark.parametrize(
    "url",
    [
        "http://me:secret@127.0.0.1:9", "http://me:secret@h:abc", "ftp://me:secret@h", "me:secret@h",
        "http://me:sec/ret?secret@h:1", "http://h:1/?token=secret", "http://h:1/#secret",
    ],
)  # fmt: skip
def test_a_password_is_not_shown_where_it_goes_wrong(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command(url, tmp_path / "out")) in (2, 3)
    assert "sec" not in capsys.readouterr().err.partition(tmp_path.name)[0]


def test_a_dead_port_leaves_no_folder_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there").mkdir()
    assert run(command("http://127.0.0.1:9", tmp_path / "there" / "a" / "b")) == 3
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 300, "a\0b"])
def test_what_cannot_be_a_folder_is_refused_before_the_server_is_asked(
    answering: Any, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, asked = answering({})
    (tmp_path / "file").write_text("mine")
    assert run(command(url, tmp_path / name)) == 5
    assert asked == []
    assert "[unwritable-output]" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(("lacking", "owner", "status"), [("R", 1, 5), ("W", 0, 5), ("W", 1, 3)])
def test_a_folder_that_cannot_be_used_is_refused_unless_it_may_be_the_servers_own(
    answering: Any, lacking: str, owner: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, asked = answering({})
    right = {"R": os.R_OK, "W": os.W_OK}[lacking]
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & right)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + owner)
    assert run(command(url, tmp_path)) == status
    assert bool(asked) is (status == 3)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0.0, -1.0])
@pytest.mark.parametrize("which", ["seconds", "patience"])
def test_no_number_of_seconds_is_refused(answering: Any, which: str, seconds: float, tmp_path: Path) -> None:
    url, asked = answering({})
    longest, patience = (seconds, 1.0) if which == "seconds" else (1.0, seconds)
    with pytest.raises(UsageError):
        server.capture_server(url, server.Wishes(tmp_path, 4, longest, patience), mute)
    assert asked == []


def test_steps_beyond_a_million_are_counted_as_they_are_written(serve: Any) -> None:
    engine, url = serve("vllm")
    counts = iter(["9.99998e+05", *["1.000018e+06"] * 99])  # 20 steps at the second look
    engine.get = lambda path: (
        (200, f'vllm:iteration_tokens_total_count{{engine="0"}} {next(counts)}\n')
        if path == "/metrics"
        else Engine.get(engine, path)
    )
    begun = time.monotonic()
    assert run(command(url, engine.folder)) == 0
    assert time.monotonic() - begun < 8  # not for 30 seconds
    assert len(list(counts)) == 98

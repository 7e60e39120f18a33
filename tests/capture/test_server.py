"""Serving engines, played on the loopback by what follows their documented interface."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.analyses import making
from traceview.capture import server
from traceview.cli import run
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
        self.stop_takes = 0.0
        self.writes = 1
        self.status = 200

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
        if path == "/start_profile" and self.kind == "sglang":
            threading.Thread(target=self.write).start()
        if path == "/stop_profile":
            threading.Thread(target=self.write).start()
            time.sleep(self.stop_takes)
        return self.status

    def write(self) -> None:
        """Write each rank's trace in two goes, as a slow disk does."""
        for rank in range(self.writes):
            with (self.folder / f"host_rank{rank}.pt.trace.json.gz").open("wb") as file:
                file.write(TRACE[: len(TRACE) // 2])
                file.flush()
                time.sleep(0.15)
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
                status, text = engine.get(self.path)
                self.answer(status, text)

            def do_POST(self) -> None:
                self.answer(
                    engine.post(self.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
                )

            def answer(self, status: int, text: str = "") -> None:
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
    assert [p.name for p in server.capture_server(url, wishes, str)] == ["host_rank0.pt.trace.json.gz"]


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
    assert [p.name for p in server.capture_server(url, wishes, str)] == ["host_rank0.pt.trace.json.gz"]


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8000", "file:///etc/passwd"])
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

from __future__ import annotations

import asyncio
import gzip
import json
import platform
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import traceview
from tests.capture.making import by_window, failing, iterations, leftovers, loop, work
from tests.capture.rows import ROWS, Row, cycle
from traceview.capture import annotate, course, record, recording, step, telling
from traceview.capture.recording import Recording
from traceview.errors import UsageError

SHORT = cycle(1, 1, 3, 1)


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_the_rows_hold_against_the_live_profiler(torch: Any, row: Row, tmp_path: Path) -> None:
    found: list[Path] = []

    def ready(profiler: Any) -> None:
        found.append(tmp_path / f"trace-w{len(found)}.json")
        profiler.export_chrome_trace(str(found[-1]))

    from torch.profiler import ProfilerActivity, profile, schedule

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a schedule without warm-up, and of events that are cleared
        chosen = schedule(**row.schedule)
        with profile(activities=[ProfilerActivity.CPU], schedule=chosen, on_trace_ready=ready) as profiler:
            loop(torch, profiler, row.loop, row.steps_per_iter)
    assert by_window(found) == row.traces


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_files_hold_the_planned_iterations(torch: Any, row: Row, tmp_path: Path) -> None:
    with record("plan", tmp_path, **row.schedule) as steps:  # type: ignore[arg-type]
        loop(torch, steps, row.loop, row.steps_per_iter)
    assert by_window(steps.files) == [t for t in row.traces if t]
    assert sorted(steps.files) == sorted(tmp_path.glob("*.gz"))
    assert leftovers(tmp_path) == []


def test_the_plan_is_printed_before_the_loop(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("train", tmp_path, total=8, wait=5, warmup=5, active=3):
        said = capsys.readouterr().err
    assert "traceview: train: no window: no file will be written" in said
    assert "warning: 8 steps end before the first window is recorded: it needs 13" in said


def test_a_loop_without_step_is_reported_at_its_end(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("train", tmp_path):
        work(torch, 0)
    assert "train: step() was never called, so nothing was recorded" in capsys.readouterr().err


def test_silence_is_reported_once_the_patience_ends(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "PATIENCE_S", 0.01)
    with record("train", tmp_path):
        said, end = "", time.monotonic() + 10
        while "no step()" not in said and time.monotonic() < end:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert (
        "train: no step() in the first 0 s; call it at the end of each iteration, or nothing is recorded"
        in said
    )


def test_silence_after_some_steps_is_reported_while_a_window_is_open(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with record("train", tmp_path, wait=0, warmup=1, active=3) as steps:
        loop(torch, steps, 2)
        now = steps._now.latest
        monkeypatch.setattr(recording.time, "monotonic", lambda: now + 29)
        assert steps._tell_silence() == ""
        monkeypatch.setattr(recording.time, "monotonic", lambda: now + 31)
        assert steps._tell_silence() == "no step() for 31 s after 2 steps"
    assert "train: no step() for 31 s after 2 steps; call it at the end of" in capsys.readouterr().err


def test_a_silence_as_long_as_the_steps_are_is_no_wonder() -> None:
    assert telling.silence(100, 30, 4, mean=25) == ""
    assert telling.silence(130, 30, 4, mean=25) == "no step() for 130 s after 4 steps"


def test_a_loop_that_ends_in_warm_up_is_told_why_nothing_was_written(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("train", tmp_path) as steps:
        loop(torch, steps, 6)
    assert "nothing was recorded: 6 steps end before the first window" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_exception_leaves_whole_windows_only_and_comes_out_unchanged(torch: Any, tmp_path: Path) -> None:
    def train(recorded: Recording) -> None:
        with recorded:
            loop(torch, recorded, 7)  # the first window, and one step of the second
            raise ValueError("the loss is nan")

    recorded = record("train", tmp_path, wait=0, warmup=1, active=3, repeat=2)
    with pytest.raises(ValueError, match="the loss is nan"):
        train(recorded)
    assert by_window(recorded.files) == [[1, 2, 3]]
    assert leftovers(tmp_path) == []


def test_a_program_that_leaves_with_success_keeps_its_window(torch: Any, tmp_path: Path) -> None:
    def train(recorded: Recording) -> None:
        with recorded:
            loop(torch, recorded, 4)
            raise SystemExit(0)

    recorded = record("train", tmp_path, **SHORT)  # type: ignore[arg-type]
    with pytest.raises(SystemExit):
        train(recorded)
    assert by_window(recorded.files) == [[2, 3]]


@pytest.mark.parametrize("where", ["__init__", "start", "step", "stop", "export_chrome_trace"])
def test_a_profiler_that_fails_never_fails_the_job(
    torch: Any,
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(torch.profiler.profile, where, failing(RuntimeError("CUPTI has gone")))
    done = []
    with record("train", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        for number in range(5):
            work(torch, number)
            done.append(number)
            steps.step()
    assert done == [0, 1, 2, 3, 4]
    said = capsys.readouterr().err
    if where != "stop":  # this window was over before
        assert leftovers(tmp_path) == []
        assert not steps.files
    assert "(RuntimeError: CUPTI has gone); the job goes on without it" in said


def test_a_profiler_that_is_running_already_stays_so(torch: Any, tmp_path: Path) -> None:
    from torch.profiler import ProfilerActivity, profile

    recorded = record("train", tmp_path, **SHORT)  # type: ignore[arg-type]
    with profile(activities=[ProfilerActivity.CPU]) as own, recorded:
        loop(torch, recorded, 6)
    own.export_chrome_trace(str(tmp_path / "own.json"))
    assert iterations(tmp_path / "own.json") == [0, 1, 2, 3, 4, 5]


def test_a_folder_that_cannot_be_made_fails_no_job(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with record("train", tmp_path / "file" / "traces", **SHORT) as steps:  # type: ignore[arg-type]
        loop(torch, steps, 6)
    assert steps.steps == 6
    assert "the profiler failed (NotADirectoryError" in capsys.readouterr().err


def test_nothing_is_ever_overwritten(torch: Any, tmp_path: Path) -> None:
    files = []
    for _ in range(3):
        with record("train", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
            loop(torch, steps, 6)
        files += steps.files
    assert len(set(files)) == len(list(tmp_path.glob("*.gz"))) == 3
    assert [p.name.partition("-w0")[2] for p in files] == [
        ".pt.trace.json.gz", "-2.pt.trace.json.gz", "-3.pt.trace.json.gz",
    ]  # fmt: skip


def test_a_decorated_function_is_recorded_each_time_it_is_called(torch: Any, tmp_path: Path) -> None:
    @record("epoch", tmp_path, **SHORT)  # type: ignore[arg-type]
    def epoch(iterations: int) -> int:
        for number in range(iterations):
            work(torch, number)
            step()
        return iterations

    assert [epoch(6), epoch(5)] == [6, 5]
    assert [iterations(p) for p in sorted(tmp_path.glob("*.gz"))] == [[2, 3, 4], [2, 3, 4]]


def test_every_call_of_a_function_can_be_a_step(torch: Any, tmp_path: Path) -> None:
    with record("serve", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        answer = steps.each(lambda number: work(torch, number))
        for number in range(6):
            answer(number)
    assert by_window(steps.files) == [[2, 3, 4]]


def test_stepping_without_a_recording_does_nothing() -> None:
    step()


def test_heavy_switches_are_off_unless_asked_for(torch: Any, tmp_path: Path) -> None:
    for label, shapes in (("plain", False), ("shapes", True)):
        with record(label, tmp_path, shapes=shapes, **SHORT) as steps:  # type: ignore[arg-type]
            loop(torch, steps, 6)
    import traceview

    by_label = {p.name.split("-")[0]: traceview.read_trace(p).meta.switches for p in tmp_path.glob("*.gz")}
    assert by_label == {"plain": {}, "shapes": {"record_shapes": True}}


def test_long_steps_shorten_the_window(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(
        range(0, 1000, 45)
    )  # warm-up begins at 0 and ends at 45: nine seconds for each of five steps
    monkeypatch.setattr(course.time, "perf_counter", lambda: next(clock))
    with record("slow", tmp_path, total=17) as steps:
        loop(torch, steps, 17)
    assert by_window(steps.files) == [[7, 8, 9]]
    said = capsys.readouterr().err
    assert (
        "a step takes 9.0 s, so only 3 are recorded, too few for 'traceview diff', which wants 6; active= says"
        in said
    )
    assert "slow: window 0: iterations 7 to 16 (10)" in said
    assert "slow: now window 0: iterations 7 to 9 (3)" in said


def test_an_asked_number_of_steps_is_kept_however_long_they_are(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 45))
    monkeypatch.setattr(course.time, "perf_counter", lambda: next(clock))
    with record("slow", tmp_path, active=8) as steps:
        loop(torch, steps, 17)
    assert by_window(steps.files) == [list(range(7, 15))]


def test_a_phase_is_named_in_the_trace(torch: Any, tmp_path: Path) -> None:
    @annotate("decode")
    def decode() -> None:
        torch.ones(4).add(1)

    with record("serve", tmp_path, wait=0, warmup=0, active=2) as steps:
        for _ in range(2):
            with annotate("prefill"):
                decode()
            steps.step()
    import traceview

    phases = traceview.analyze(traceview.read_trace(steps.files[0])).phases
    calls = dict(zip(phases.name.tolist(), phases.calls.tolist(), strict=True))
    assert (calls["prefill"], calls["decode"]) == (2, 2)


def test_a_phase_is_a_range_for_nvidias_tools_where_cuda_is_in_use(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda.nvtx, "range_push", ranges.append)
    monkeypatch.setattr(torch.cuda.nvtx, "range_pop", lambda: ranges.append("end"))
    with annotate("outer"), annotate("inner"):
        pass
    assert ranges == ["outer", "inner", "end", "end"]


def test_numbers_that_are_no_schedule_are_refused_before_the_job(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="active is 0"):
        record("train", tmp_path, active=0)
    for total in (-1, 2.5, "20", float("nan")):
        with pytest.raises(UsageError, match="total is "):
            record("train", tmp_path, total=total)  # type: ignore[arg-type]
    assert record("train", tmp_path, total=20.0) is not None  # type: ignore[arg-type]


def test_what_is_no_option_is_refused_before_the_job(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no option actve"):
        record("train", tmp_path, actve=3)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="conditions are no mapping"):
        record("train", tmp_path, conditions="batch 8")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"@record\(\) with brackets"):
        record(test_what_is_no_option_is_refused_before_the_job)  # type: ignore[arg-type]


def test_another_number_of_steps_than_planned_is_said(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("train", tmp_path, total=6, **SHORT) as steps:  # type: ignore[arg-type]
        loop(torch, steps, 6, steps=2)
    assert "warning: step() was called 12 times, and the plan was made for 6" in capsys.readouterr().err


def test_a_loop_recorded_from_the_start_without_step_is_reported_too(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("train", tmp_path, wait=0, warmup=0, active=2):
        work(torch, 0)
    assert "train: step() was never called, so the file holds no steps" in capsys.readouterr().err


def test_stepping_outside_of_the_recording_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = record("train", tmp_path)
    steps.step()
    steps.step()
    assert capsys.readouterr().err.count("step() outside of the recording") == 1


def test_generators_and_coroutines_are_recorded_while_they_run(torch: Any, tmp_path: Path) -> None:
    @record("items", tmp_path, **SHORT)  # type: ignore[arg-type]
    def items() -> Iterator[int]:
        for number in range(6):
            work(torch, number)
            step()
            yield number

    @record("awaited", tmp_path, **SHORT)  # type: ignore[arg-type]
    async def awaited() -> str:
        for number in range(6):
            work(torch, number)
            step()
        return "done"

    assert list(items()) == list(range(6))
    assert asyncio.run(awaited()) == "done"
    for label in ("items", "awaited"):
        assert by_window(list(tmp_path.glob(f"{label}-*.gz"))) == [[2, 3, 4]]


def test_a_call_of_an_async_function_is_a_step_when_it_is_done(torch: Any, tmp_path: Path) -> None:
    with record("serve", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]

        async def answer(number: int) -> None:
            work(torch, number)

        async def serve() -> None:
            answers = steps.each(answer)
            for number in range(6):
                await answers(number)

        asyncio.run(serve())
    assert by_window(steps.files) == [[2, 3, 4]]


def test_no_host_and_no_folder_is_in_a_trace(torch: Any, tmp_path: Path) -> None:
    with record("run", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        loop(torch, steps, 6)
    text = gzip.decompress(steps.files[0].read_bytes()).decode()
    assert json.loads(text)["host_name"] == json.loads(text)["traceName"] == ""
    assert str(tmp_path) not in text
    assert f'"{platform.node()}"' not in text


def test_a_trace_takes_no_name_whose_conditions_are_of_another(torch: Any, tmp_path: Path) -> None:
    for batch in (8, 64):
        with record("run", tmp_path, **SHORT, conditions={"batch": batch}) as steps:  # type: ignore[arg-type]
            loop(torch, steps, 6)
        if batch == 8:
            steps.files[0].unlink()  # moved away, and its sidecar left
    assert steps.files[0].name.endswith("-w0-2.pt.trace.json.gz")
    assert traceview.read_trace(steps.files[0]).meta.conditions["batch"] == "64"


@pytest.mark.parametrize(
    ("end", "recorded"), [(4, [1, 2, 3]), (11, [1, 2, 3, 4, 5, 6, 7, 8])], ids=["cut short", "whole"]
)
def test_what_comes_after_the_last_step_is_no_step(
    torch: Any, tmp_path: Path, end: int, recorded: list[int]
) -> None:
    """A validation behind the loop, or half an iteration that a break ends, stands in the trace, as what it is."""
    with record("run", tmp_path, wait=0, warmup=1, active=8) as steps:
        loop(torch, steps, end)
        with torch.profiler.record_function("validation"):
            for _ in range(9):
                torch.ones(512, 512) @ torch.ones(512, 512)
    (trace,) = steps.files
    found = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    names = [str(e["name"]) for e in found if e.get("ph") == "X"]
    assert sorted(n for n in names if n.startswith("ProfilerStep")) == [f"ProfilerStep#{n}" for n in recorded]
    assert ("after the last step" in names, "validation" in names) == (end == 4, end == 4)
    assert len(traceview.analyze(traceview.read_trace(trace)).step_windows) == len(recorded)


@pytest.mark.parametrize("where", ["start", "stop"])
def test_an_interruption_at_the_edge_leaves_nothing_in_torch(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    sessions = torch.autograd.profiler.profile
    before = sessions._prepare_trace
    monkeypatch.setattr(torch.profiler.profile, where, failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt), record("t", tmp_path, wait=0, warmup=1, active=9) as steps:
        loop(torch, steps, 2)
    assert sessions._prepare_trace is before
    assert vars(torch.nn.Module)["_compiled_call_impl"] is None
    assert not torch.autograd._profiler_enabled()


def test_steps_of_other_threads_alone_are_said_to_be_that(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("t", tmp_path, wait=0, warmup=1, active=2) as steps:
        other = threading.Thread(target=lambda: [steps.step() for _ in range(9)])
        other.start()
        other.join()
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("traceview: t: step() was called in other threads only, so nothing was recorded")


def test_a_window_that_was_dropped_and_never_came_again_is_said_to_be_missing(
    torch: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with record("t", tmp_path, wait=0, warmup=1, active=4) as steps:
        loop(torch, steps, 3)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            pass
    first, last = [
        line for line in capsys.readouterr().err.splitlines() if line.startswith("traceview: t: ")
    ][-2:]
    assert first == "traceview: t: the job starts a profiler of its own: the window at work is dropped"
    assert last == "traceview: t: nothing was recorded"


def test_without_torch_a_job_runs_unrecorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch.profiler", None)
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with record("train", tmp_path) as steps:
        for _ in range(3):
            steps.step()
    assert steps.steps == 3
    said = capsys.readouterr().err
    assert said.count("torch is not installed, so nothing is recorded; pip install 'traceview[capture]'") == 1


def test_a_trace_can_be_read_by_every_json_reader(torch: Any, tmp_path: Path) -> None:
    import gzip

    with record("train", tmp_path, **SHORT) as steps:  # type: ignore[arg-type]
        loop(torch, steps, 6)
    document = json.loads(gzip.decompress(steps.files[0].read_bytes()))
    marks = [e["name"] for e in document["traceEvents"] if str(e.get("name")).startswith("ProfilerStep#")]
    assert sorted(marks) == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]


def test_an_annotation_that_stands_in_itself_ends_where_each_ends(torch: Any) -> None:
    from torch.profiler import ProfilerActivity, profile

    phase = annotate("phase")
    with profile(activities=[ProfilerActivity.CPU]) as profiler, phase:
        with phase:
            torch.ones(2).add(1)
        torch.ones(2).sub(1)
    ranges = sorted(e.time_range.elapsed_us() for e in profiler.events() if e.name == "phase")
    (sub,) = (e.time_range for e in profiler.events() if e.name == "aten::sub")
    outer = max((e.time_range for e in profiler.events() if e.name == "phase"), key=lambda r: r.elapsed_us())
    assert len(ranges) == 2
    assert outer.start <= sub.start
    assert sub.end <= outer.end


def test_values_that_are_sent_to_a_decorated_async_generator_reach_it() -> None:
    @annotate("x")
    async def stream() -> Any:
        got: list[Any] = []
        try:
            while True:
                try:
                    got.append((yield list(got)))
                except KeyError:
                    got.append("thrown")
        finally:
            ended.append(got)

    async def used() -> None:
        values = stream()
        assert await values.__anext__() == []
        assert await values.asend("a") == ["a"]
        assert await values.athrow(KeyError("k")) == ["a", "thrown"]
        await values.aclose()
        assert ended == [["a", "thrown"]]
        with pytest.raises(ValueError, match="b"):
            await (failed := stream()).__anext__() or await failed.athrow(ValueError("b"))

    ended: list[Any] = []
    asyncio.run(used())


def test_a_generator_of_which_nobody_wants_more_keeps_its_window(torch: Any, tmp_path: Path) -> None:
    @record("gen", tmp_path, wait=0, warmup=1, active=20, quiet=True)
    def numbers() -> Iterator[int]:
        for i in range(99):
            work(torch, i)
            step()
            yield i

    for i in numbers():
        if i == 5:
            break
    assert iterations(next(tmp_path.glob("*.gz"))) == [1, 2, 3, 4, 5]


def test_behind_the_last_window_nothing_of_a_profiler_is_kept(torch: Any, tmp_path: Path) -> None:
    sessions = torch.autograd.profiler.profile
    before = sessions._prepare_trace
    with record("run", tmp_path, wait=1, warmup=1, active=2, repeat=2, quiet=True) as steps:
        loop(torch, steps, 4)
        assert steps._profiler.profiler is None  # torch's events of the first window
        loop(torch, steps, 4)
        assert steps._profiler is None
        assert sessions._prepare_trace is before
        loop(torch, steps, 9)
    assert (steps.steps, len(steps.files)) == (17, 2)


def test_where_torch_stops_early_the_next_window_is_recorded(
    torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    full = [False]
    if not hasattr(torch.autograd, "_is_kineto_stopped"):
        pytest.skip("this torch does not stop early")
    monkeypatch.setattr(torch.autograd, "_is_kineto_stopped", lambda: full[0])
    with warnings.catch_warnings(), record("run", tmp_path, wait=1, warmup=1, active=4, repeat=2) as steps:
        warnings.simplefilter("ignore")  # that there is no CUDA, and that torch stops
        steps._profiler.use_device = "cuda"
        for i in range(14):
            work(torch, i)
            full[0] = i in (3, 4, 5)
            steps.step()
    assert by_window(steps.files) == [[2, 3], [8, 9, 10, 11]]
    said = capsys.readouterr().err
    assert "run: warning: torch's buffers for the device were full, so it stopped after 2 of 4 steps" in said
    assert "failed" not in said


def test_steps_are_numbered_as_the_loop_counts_them(torch: Any, tmp_path: Path) -> None:
    with record("run", tmp_path, wait=0, warmup=2, active=3, repeat=2, quiet=True) as steps:
        for i in range(20):
            if i == 7:
                with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
                    work(torch, 99)
            work(torch, i)
            steps.step()
    for trace in steps.files:
        found = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
        numbers = sorted(
            int(e["name"][13:]) for e in found if str(e.get("name", "")).startswith("ProfilerStep#")
        )
        assert numbers == iterations(trace)


def test_steps_of_other_profilers_are_no_steps_of_a_trace(torch: Any, tmp_path: Path) -> None:
    from torch.profiler import ProfilerActivity, profile, schedule

    waiting = profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=99, warmup=1, active=1))
    with (
        waiting,
        record("outer", tmp_path, wait=0, warmup=1, active=2, quiet=True) as outer,
        record("inner", tmp_path, wait=0, warmup=1, active=6, quiet=True) as inner,
    ):
        for i in range(12):
            work(torch, i)
            waiting.step()
            inner.step()
            if i % 3 == 2:
                outer.step()
    (trace,) = outer.files
    table = traceview.analyze(traceview.read_trace(trace)).step_windows
    assert list(table.number) == [1, 2]
    assert iterations(trace) == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_a_number_may_be_one_of_numpy(kind: str) -> None:
    numpy = pytest.importorskip("numpy")
    assert record("t", active=getattr(numpy, kind)(20)).schedule.active == 20

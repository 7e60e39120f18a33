"""Nothing of a recording ends the job: other profilers, other threads, interruptions.

A mistake here is a crash of the process, so each scenario is a process of its own; all are forked from one
that has imported torch.
"""

from __future__ import annotations

import pytest

from tests.capture.forks import Ended, forked
from tests.capture.making import iterations, leftovers

HEAD = """
import asyncio, os, signal, sys, threading
import torch, torch._inductor, traceview.analyses  # what each process would import by itself
from torch.profiler import ProfilerActivity, profile, schedule
from traceview.capture import record, annotate, writing
torch.set_num_threads(1)
CPU = [ProfilerActivity.CPU]
def work(i):
    with torch.profiler.record_function(f"iteration {i}"):
        torch.ones(16).add(1)
"""
SCENARIOS = {
    "the job profiles an iteration itself": """
        with record("t", "out", wait=1, warmup=2, active=3) as steps:
            for i in range(20):
                if i == 4:  # in the middle of the window of 3 to 5
                    with profile(activities=CPU) as own:
                        work(i)
                    assert any(e.name == "iteration 4" for e in own.events())
                work(i)
                steps.step()
    """,
    "the job profiles itself in the warm-up": """
        with record("t", "out", wait=1, warmup=3, active=2) as steps:
            for i in range(20):
                if i == 2:
                    with profile(activities=CPU) as own:
                        work(i)
                work(i)
                steps.step()
    """,
    "the job has a schedule of its own": """
        with profile(activities=CPU, schedule=schedule(wait=1, warmup=3, active=2, repeat=1),
                     on_trace_ready=lambda p: p.export_chrome_trace("own.json")) as own:
            with record("t", "out", wait=2, warmup=1, active=3) as steps:
                for i in range(20):
                    work(i)
                    steps.step()
                    own.step()
    """,
    "a recording stands in another's window": """
        with record("outer", "out", wait=0, warmup=1, active=8) as outer:
            for i in range(9):
                if i == 0:
                    inner = record("inner", "out", wait=0, warmup=1, active=2).__enter__()
                work(i)
                outer.step()
                inner.step()
            inner.__exit__(None, None, None)
    """,
    "two threads record at once": """
        def job(label):
            with record(label, "out", wait=1, warmup=1, active=2, repeat=3) as steps:
                for i in range(60):
                    work(i)
                    steps.step()
        threads = [threading.Thread(target=job, args=(f"t{n}",)) for n in range(2)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    """,
    "the recorded thread ends inside of a window": """
        def job(steps, first):
            for i in range(first, first + 5):
                work(i)
                steps.step()
        with record("t", "out", wait=1, warmup=1, active=6) as steps:
            thread = threading.Thread(target=job, args=(steps, 0))
            thread.start()
            thread.join()
    """,
    "another thread goes on where one ended inside of a window": """
        def job(steps, first):
            for i in range(first, first + 5):
                work(i)
                steps.step()
        with record("t", "out", wait=1, warmup=1, active=4) as steps:
            for first in (0, 5, 10):
                thread = threading.Thread(target=job, args=(steps, first))
                thread.start()
                thread.join()
            for i in range(15, 30):
                work(i)
                steps.step()
    """,
    "another thread profiles in a window": """
        def other():
            with profile(activities=CPU):
                torch.ones(2).add(1)
        def size():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        with record("t", "out", wait=1, warmup=1, active=3) as steps:
            for i in range(8):
                work(i)
                if i == 3:
                    thread = threading.Thread(target=other)
                    thread.start()
                    thread.join()
                steps.step()
        x, before = torch.ones(2), size()
        for i in range(200_000):
            x + 1
        assert size() - before < 60, size() - before  # 200 MiB where torch went on recording
    """,
    "a helper steps while the main thread waits": """
        with record("t", "out", wait=4, warmup=2, active=3) as steps:
            go, done, end = threading.Event(), threading.Event(), threading.Event()
            def helper():
                go.wait()
                for _ in range(5):
                    steps.step()
                done.set()
                end.wait()
            thread = threading.Thread(target=helper)
            thread.start()
            for i in range(20):
                work(i)
                if i == 1:
                    go.set()
                    done.wait()
                steps.step()
            end.set()
            thread.join()
    """,
    "a thread is about to step when another one opens the session": """
        steps = record("t", "out", wait=1, warmup=2, active=3)
        plain = steps._lock
        class Slow:  # the other thread is slow to get the lock
            def __enter__(self):
                while threading.current_thread() is other and steps._now.phase != "active" and not steps.files:
                    threading.Event().wait(0.001)
                return plain.__enter__()
            def __exit__(self, *error):
                return plain.__exit__(*error)
        steps._lock = Slow()
        def job():
            for i in range(10):
                work(i)
                steps.step()
                threading.Event().wait(0.02)
        with steps:
            other = threading.Thread(target=steps.step)
            other.start()
            worker = threading.Thread(target=job)
            worker.start()
            [t.join() for t in (other, worker)]
    """,
    "the job profiles where another thread has ended the recording": """
        def other():
            with profile(activities=CPU):
                work(99)
        with record("t", "out", wait=1, warmup=1, active=3) as steps:
            for i in range(8):
                work(i)
                if i == 3:
                    thread = threading.Thread(target=other)
                    thread.start()
                    thread.join()
                steps.step()
        with profile(activities=CPU) as own:
            work(100)
        assert any(e.name == "iteration 100" for e in own.events())
    """,
    "a thread ends in a window that another profiler has overtaken": """
        opened, go = threading.Event(), threading.Event()
        def train(steps):
            for i in range(4):
                work(i)
                steps.step()
            opened.set()
            go.wait()
        with record("t", "out", wait=1, warmup=1, active=6) as steps:
            thread = threading.Thread(target=train, args=(steps,))
            thread.start()
            opened.wait()
            with profile(activities=CPU) as own:
                work(99)
                go.set()
                thread.join()
                work(100)
        assert {"iteration 99", "iteration 100"} <= {e.name for e in own.events()}
    """,
    "a worker profiles whose window was left open": """
        from concurrent.futures import ThreadPoolExecutor
        def train(steps):
            for i in range(4):
                work(i)
                steps.step()
        def own():
            with profile(activities=CPU) as found:
                work(100)
            return len(found.events())
        pool = ThreadPoolExecutor(1)
        with record("t", "out", wait=1, warmup=1, active=6) as steps:
            pool.submit(train, steps).result()
        assert own() and pool.submit(own).result()
    """,
    "another thread profiles from before the recording on": """
        on, go = threading.Event(), threading.Event()
        def other():
            with profile(activities=CPU):
                on.set()
                go.wait()
        thread = threading.Thread(target=other)
        thread.start()
        on.wait()
        with record("t", "out", wait=1, warmup=1, active=3) as steps:
            for i in range(10):
                work(i)
                steps.step()
        go.set()
        thread.join()
    """,
    "the job uses the profiler before Kineto": """
        from torch.autograd.profiler_legacy import profile as legacy
        with record("t", "out", wait=1, warmup=1, active=2) as steps:
            for i in range(12):
                if i == 2:
                    with legacy():
                        torch.ones(2).add(1)
                work(i)
                steps.step()
    """,
    "tasks step recordings of their own by step()": """
        from traceview.capture import step
        counted = {}
        async def job(label):
            with record(label, "out", wait=1, warmup=1, active=3) as steps:
                for i in range(30):
                    work(i)
                    step()
                    await asyncio.sleep(0)
                counted[label] = steps.steps
        async def both():
            await asyncio.gather(job("a"), job("b"))
        asyncio.run(both())
        assert counted == {"a": 30, "b": 30}, counted
    """,
    "a handler of a signal steps": """
        with profile(activities=CPU):
            work(0)
        with record("t", "out", wait=1, warmup=1, active=2, repeat=0, quiet=True) as steps:
            signal.signal(signal.SIGALRM, lambda *_: steps.step())
            signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
            while steps.steps < 60:
                torch.ones(2).add(1)
            signal.setitimer(signal.ITIMER_REAL, 0)
        assert steps.files
    """,
    "two threads step recordings of their own by step()": """
        from traceview.capture import step
        together = threading.Barrier(2)
        counted = {}
        def job(label):
            with record(label, "out", wait=20, warmup=1, active=3) as steps:
                together.wait()
                for i in range(30):
                    work(i)
                    step()
                counted[label] = steps.steps
        threads = [threading.Thread(target=job, args=(label,)) for label in "ab"]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert counted == {"a": 30, "b": 30}, counted
    """,
    "modules run in other threads while windows come and go": """
        sys.setswitchinterval(1e-6)
        module, ends, failed = torch.nn.Identity(), [], []
        def serve():
            while not ends:
                try:
                    module(1)
                except Exception as error:
                    failed.append(error)
                    return
        threads = [threading.Thread(target=serve) for _ in range(2)]
        [t.start() for t in threads]
        for _ in range(40):
            with record("t", "out", wait=0, warmup=1, active=1, quiet=True) as steps:
                for i in range(2):
                    module(1)
                    steps.step()
        ends.append(1)
        [t.join() for t in threads]
        assert not failed, failed
    """,
    "another thread works and steps": """
        def job(steps):
            for i in range(12):
                work(i)
                steps.step()
        with record("t", "out", wait=1, warmup=1, active=2) as steps:
            thread = threading.Thread(target=job, args=(steps,))
            thread.start()
            thread.join()
    """,
    "the window was begun in the main thread and a worker steps": """
        with record("t", "out", wait=0, warmup=1, active=2) as steps:
            thread = threading.Thread(target=lambda: [steps.step() for _ in range(5)])
            thread.start()
            thread.join()
    """,
    "it ends in another thread": """
        steps = record("t", "out", wait=0, warmup=1, active=9).__enter__()
        for i in range(4):
            work(i)
            steps.step()
        thread = threading.Thread(target=steps.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
    """,
    "two coroutines record at once": """
        async def job(label):
            with record(label, "out", wait=0, warmup=1, active=3) as steps:
                for i in range(8):
                    work(i)
                    steps.step()
                    await asyncio.sleep(0)
        async def both():
            await asyncio.gather(job("a"), job("b"))
        asyncio.run(both())
    """,
    "it is entered twice": """
        steps = record("t", "out", wait=0, warmup=1, active=2)
        with steps:
            with steps:
                for i in range(5):
                    work(i)
                    steps.step()
    """,
    "Ctrl-C comes while a window is compressed": """
        plain = writing._copy
        def copy(*streams):
            os.kill(os.getpid(), signal.SIGINT)
            plain(*streams)
        writing._copy = copy
        try:
            with record("t", "out", wait=0, warmup=1, active=2, repeat=0) as steps:
                for i in range(9):
                    work(i)
                    steps.step()
        except KeyboardInterrupt:
            print("saved a checkpoint")
    """,
    "torch fails to stop its profiler": """
        def fail(*_):
            raise RuntimeError("no more")
        torch.autograd.profiler._disable_profiler = fail
        with record("t", "out", wait=0, warmup=1, active=2) as steps:
            for i in range(9):
                work(i)
                steps.step()
    """,
    "torch cannot write its trace": """
        def fail(_, path):
            open(path + ".tmp", "w").write("half")
        profile.export_chrome_trace = fail
        with record("t", "out", wait=0, warmup=1, active=2) as steps:
            for i in range(9):
                work(i)
                steps.step()
    """,
    "it forks in a window": """
        with record("t", "out", wait=0, warmup=1, active=4) as steps:
            for i in range(9):
                work(i)
                if i == 2 and not os.fork():
                    for _ in range(9):
                        steps.step()
                    os._exit(0)
                steps.step()
        os.wait()
    """,
    "it changes its folder": """
        with record("t", "out", wait=0, warmup=1, active=2) as steps:
            os.mkdir("elsewhere")
            os.chdir("elsewhere")
            for i in range(4):
                work(i)
                steps.step()
    """,
}  # fmt: skip


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Run every scenario; return how each ended."""
    return forked(HEAD, SCENARIOS, tmp_path_factory.mktemp("safety"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_job_goes_on_and_leaves_nothing_half_written(ended: dict[str, Ended], name: str) -> None:
    found = ended[name]
    assert found.status == 0, found.said
    assert "the job went on" in found.said
    if (found.folder / "out").exists():
        assert leftovers(found.folder / "out") == []


WINDOWS = {
    # the fifth iteration ends the pause; wait 1 and warm-up 2 come again
    "the job profiles an iteration itself": [[8, 9, 10]],
    "the job profiles itself in the warm-up": [[7, 8]],
    # its session is open from the beginning of step 2 to the end of step 5; the next one waits two and warms up one
    "the job has a schedule of its own": [[9, 10, 11]],
    "a recording stands in another's window": [[1, 2, 3, 4, 5, 6, 7, 8]],
    "another thread works and steps": [[2, 3]],
    "the window was begun in the main thread and a worker steps": [],
    "the recorded thread ends inside of a window": [],
    # 2 to 4 are lost with the first thread, 7 to 9 and 12 to 14 with the others; then the main thread waits and warms up
    "another thread goes on where one ended inside of a window": [[18, 19, 20, 21]],
    "another thread profiles in a window": [],
    "a helper steps while the main thread waits": [[6, 7, 8]],
    "it ends in another thread": [],
    "it is entered twice": [[1, 2]],
    "Ctrl-C comes while a window is compressed": [],
    "torch fails to stop its profiler": [],
    "torch cannot write its trace": [],
    "it forks in a window": [[1, 2, 3, 4]],
    "it changes its folder": [[1, 2]],
    "another thread profiles from before the recording on": [],
    # the window of 2 and 3 is dropped; from the end of step 2 on it waits one, warms up one
    "the job uses the profiler before Kineto": [[5, 6]],
    "a thread is about to step when another one opens the session": [[3, 4, 5]],
}
SAID = {
    "the recorded thread ends inside of a window": "t: the thread that was recorded ended inside of a window",
    "another thread profiles in a window": "t: a profiler starts in another thread: this recording ends",
    "a helper steps while the main thread waits": "t: step() came from another thread",
    "the job profiles an iteration itself": "t: the job starts a profiler of its own: the window at work is dropped",
    "the job has a schedule of its own": "t: another profiler is running in this process",
    "the window was begun in the main thread and a worker steps": "t: step() came from another thread",
    "it ends in another thread": "t: the window was begun in another thread and cannot be ended here",
    "it is entered twice": "t: this recording is under way already",
    "Ctrl-C comes while a window is compressed": "saved a checkpoint",
    "torch fails to stop its profiler": "the profiler failed (RuntimeError: no more); the job goes on without it",
    "torch cannot write its trace": "writing the trace failed (OSError: torch wrote no trace into",
}


@pytest.mark.parametrize("name", WINDOWS)
def test_what_can_be_recorded_is_recorded(ended: dict[str, Ended], name: str) -> None:
    assert ended[name].windows == WINDOWS[name], ended[name].said


@pytest.mark.parametrize("name", SAID)
def test_what_could_not_is_said(ended: dict[str, Ended], name: str) -> None:
    assert SAID[name] in ended[name].said


def test_the_profiler_of_the_job_gets_its_own_window(ended: dict[str, Ended]) -> None:
    assert iterations(ended["the job has a schedule of its own"].folder / "own.json") == [4, 5]


@pytest.mark.parametrize("name", ["two threads record at once", "two coroutines record at once"])
def test_of_two_recordings_at_once_one_is_recorded_at_a_time(ended: dict[str, Ended], name: str) -> None:
    assert ended[name].windows
    assert "another profiler is running in this process" in ended[name].said

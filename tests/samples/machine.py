"""Simulate one host and one GPU just far enough to write a believable trace whose truth is known.

All times are integer nanoseconds on one clock. The host does one thing at a time (the autograd thread works while the
main thread waits); a stream is first in, first out. Whoever drives the machine can stretch the next launch, so that a
hole of a known cause opens in front of its kernel, and every such plan is kept in `planted`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

HOST_PID, MAIN_THREAD, AUTOGRAD_THREAD = 4021, 4021, 4105
COMPUTE, COMM = 7, 20
CALL_IDS = {
    "cudaMalloc": 20,
    "cudaFree": 22,
    "cudaMemcpyAsync": 41,
    "cudaMemsetAsync": 51,
    "cudaEventRecord": 135,
    "cudaStreamWaitEvent": 147,
    "cudaStreamSynchronize": 131,
    "cudaDeviceSynchronize": 165,
    "cudaLaunchKernel": 211,
    "cuLaunchKernelEx": 652,
    "cudaGraphLaunch": 311,
    "cudaLaunchKernelExC": 430,
}
DRIVER = {"cuLaunchKernelEx"}


@dataclass(slots=True)
class Slice:
    """One complete event of the trace file."""

    name: str
    category: str
    pid: int
    tid: int
    start: int
    end: int = -1
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class Kernel:
    """One kind of kernel: its full name, how long it takes (us) and how it is shaped."""

    name: str
    fastest: float
    slowest: float
    registers: int = 40
    shared: int = 0
    blocks: int = 1024
    threads: int = 128


@dataclass(slots=True)
class Record:
    """One device record, the host call that enqueued it, and the op around that call."""

    slice: Slice
    kind: str  # kernel, collective, copy, fill
    launch: Slice | None
    op: str | None
    step: int | None
    graph: int | None = None


@dataclass(slots=True, frozen=True)
class Tagged:
    """A host interval that explains idle time, with the cause it stands for."""

    start: int
    end: int
    cause: str


@dataclass(slots=True)
class Stretch:
    """What is special about the next launch: a long call, a late start, and the cause that this plants."""

    cause: str
    call_ns: int | None = None
    flight_ns: int | None = None
    starts_at: int | None = None


@dataclass(slots=True, frozen=True)
class Plan:
    """A hole that was put in front of a record, on purpose."""

    cause: str
    record: Record


class Machine:
    """Advance host and device, and keep everything that happened."""

    def __init__(self, seed: int, origin_ns: int) -> None:
        self.rng = random.Random(seed)
        self.now = origin_ns
        self.thread = MAIN_THREAD
        self.step: int | None = None
        self.free = {COMPUTE: origin_ns, COMM: origin_ns}
        self.host: list[Slice] = []
        self.calls: list[Slice] = []
        self.launches: list[Slice] = []
        self.records: list[Record] = []
        self.device_notes: list[Slice] = []
        self.overhead: list[Slice] = []
        self.memory: list[tuple[int, int, dict[str, Any]]] = []
        self.forward_backward: list[tuple[int, str, int, int]] = []
        self.tagged: list[Tagged] = []
        self.planted: list[Plan] = []
        self.stretch: Stretch | None = None
        self._stack: list[Slice] = []
        self._python: list[int] = []
        self._counts = {"correlation": 9000, "external": 0, "event": 0, "python": 0, "node": 0}
        self._allocated = 3_221_225_472

    def count(self, what: str) -> int:
        """Return the next id of its kind."""
        self._counts[what] += 1
        return self._counts[what]

    def spend(self, shortest_us: float, longest_us: float) -> None:
        """Let the host work for a while."""
        self.now += self.between(shortest_us, longest_us)

    def between(self, shortest_us: float, longest_us: float) -> int:
        """Draw a duration in nanoseconds."""
        return self.rng.randint(round(shortest_us * 1000), round(longest_us * 1000))

    @property
    def drained_at(self) -> int:
        """Return when the device will have finished all it has been given."""
        return max(self.free.values())

    @contextmanager
    def span(
        self, name: str, category: str = "cpu_op", cause: str = "", args: dict[str, Any] | None = None
    ) -> Iterator[Slice]:
        """Open a host op, annotation or Python frame; what happens inside is nested in it."""
        opened = Slice(name, category, HOST_PID, self.thread, self.now, args=dict(args or {}))
        self._identify(opened)
        self.host.append(opened)
        self._stack.append(opened)
        self.spend(0.6, 2.4)
        try:
            yield opened
        finally:
            self.spend(0.4, 1.6)
            opened.end = self.now
            self._stack.pop()
            if category == "python_function":
                self._python.pop()
            if cause:
                self.tagged.append(Tagged(opened.start, opened.end, cause))
            self.spend(0.2, 0.9)

    def _identify(self, opened: Slice) -> None:
        if opened.category == "python_function":
            number = self.count("python")
            opened.args |= {
                "Python parent id": self._python[-1] if self._python else None,
                "Python id": number,
            }
            self._python.append(number)
        else:
            opened.args = {"External id": self.count("external"), "Record function id": 0} | opened.args
        opened.args["Ev Idx"] = self.count("event") - 1

    def op(self, tensors: Sequence[Sequence[int]], dtype: str = "c10::BFloat16") -> dict[str, Any]:
        """Return the arguments of an op with these input shapes."""
        strides = [[_product(shape[i + 1 :]) for i in range(len(shape))] for shape in tensors]
        return {
            "Concrete Inputs": [""] * len(tensors),
            "Input type": [dtype] * len(tensors),
            "Input Strides": strides,
            "Input Dims": [list(shape) for shape in tensors],
        }

    def call(self, name: str, lasts_ns: int, cause: str = "") -> Slice:
        """Make a runtime or driver call that returns after this time."""
        category = "cuda_driver" if name in DRIVER else "cuda_runtime"
        args = {
            "External id": self.external_id,
            "cbid": CALL_IDS[name],
            "correlation": self.count("correlation"),
        }
        done = Slice(name, category, HOST_PID, self.thread, self.now, self.now + lasts_ns, args)
        self.now = done.end
        self.calls.append(done)
        if cause:
            self.tagged.append(Tagged(done.start, done.end, cause))
        return done

    @property
    def external_id(self) -> int:
        """Return the id of the innermost op or annotation."""
        return next((s.args["External id"] for s in reversed(self._stack) if "External id" in s.args), 0)

    @property
    def innermost_op(self) -> str | None:
        """Return the name of the innermost op on the current thread."""
        inside = (s for s in reversed(self._stack) if s.tid == self.thread and s.category == "cpu_op")
        return next((s.name for s in inside), None)

    def enqueue(self, by: Slice, kind: str, stream: int, what: Slice, plan: Stretch | None = None) -> Record:
        """Put a record on a stream: it starts when it has arrived and the stream is free."""
        lasts = what.end
        lead = -self.between(0.2, 0.9) if self.rng.random() < 0.08 else self.between(0.9, 2.6)
        if plan and plan.flight_ns is not None:
            lead = plan.flight_ns
        what.start = max(by.end + lead, by.start + 300, self.free[stream] + self.between(0.7, 1.5))
        if plan and plan.starts_at is not None:
            what.start = max(what.start, plan.starts_at)
        what.end = what.start + lasts
        self.free[stream] = what.end
        record = Record(what, kind, by, self.innermost_op, self.step)
        self.records.append(record)
        if plan:
            self.planted.append(Plan(plan.cause, record))
        return record

    def launch(self, kernel: Kernel, stream: int = COMPUTE, by: str = "cudaLaunchKernel") -> Record:
        """Launch a kernel the ordinary way."""
        plan, self.stretch = self.stretch, None
        lasts = self.between(3.1, 6.4)
        if plan and plan.call_ns is not None:
            lasts = plan.call_ns
        call = self.call(by, lasts)
        self.launches.append(call)
        return self.enqueue(call, "kernel", stream, self.kernel_slice(kernel, stream, call), plan)

    def kernel_slice(self, kernel: Kernel, stream: int, call: Slice | None) -> Slice:
        """Return the slice of a kernel; its `end` holds the duration until it is enqueued."""
        warps = kernel.blocks * kernel.threads / 32
        args = {
            "External id": call.args["External id"] if call else 0,
            "queued": 0,
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": call.args["correlation"] if call else self.count("correlation"),
            "registers per thread": kernel.registers,
            "shared memory": kernel.shared,
            "blocks per SM": round(kernel.blocks / 132, 6),
            "warps per SM": round(warps / 132, 6),
            "grid": [kernel.blocks, 1, 1],
            "block": [kernel.threads, 1, 1],
            "est. achieved occupancy %": min(100, round(100 * warps / 132 / 64)),
        }
        lasts = self.between(kernel.fastest, kernel.slowest)
        return Slice(kernel.name, "kernel", 0, stream, 0, lasts, args)

    def copy(self, direction: str, memory: str, size: int, rate: float, stream: int = COMPUTE) -> Record:
        """Copy `size` bytes at `rate` GB/s; a copy from or to pageable memory blocks the host."""
        plan, self.stretch = self.stretch, None
        pageable = "Pageable" in memory
        lasts = round(size / rate) + 1100
        call = self.call("cudaMemcpyAsync", self.between(3.4, 6.8))
        what = self._copy_slice(f"Memcpy {direction} ({memory})", "gpu_memcpy", stream, call, size)
        what.end = lasts
        if pageable and direction == "HtoD":  # staged by the host before the device can start
            call.end += round(size / 6.0)
            self.now = call.end
        record = self.enqueue(call, "copy", stream, what, plan)
        what.args["memory bandwidth (GB/s)"] = size / (what.end - what.start)
        if pageable:
            if direction == "DtoH":
                call.end = self.now = what.end + self.between(4.0, 7.0)
            self.tagged.append(Tagged(call.start, call.end, "synchronisation or blocking copy"))
        return record

    def fill(self, size: int, stream: int = COMPUTE) -> Record:
        """Set device memory."""
        call = self.call("cudaMemsetAsync", self.between(2.9, 4.4))
        what = self._copy_slice("Memset (Device)", "gpu_memset", stream, call, size)
        what.end = self.between(1.4, 3.1)
        record = self.enqueue(call, "fill", stream, what)
        what.args["memory bandwidth (GB/s)"] = size / (what.end - what.start)
        return record

    def _copy_slice(self, name: str, category: str, stream: int, call: Slice, size: int) -> Slice:
        args = {
            "External id": call.args["External id"],
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": call.args["correlation"],
            "bytes": size,
        }
        return Slice(name, category, 0, stream, 0, 0, args)

    def graph_launch(self, kernels: Sequence[Kernel], graph: int) -> list[Record]:
        """Replay a captured graph: one call, all its kernels under one correlation id."""
        call = self.call("cudaGraphLaunch", self.between(11.0, 16.0))
        self.launches.append(call)
        done = []
        for node, kernel in enumerate(kernels):
            what = self.kernel_slice(kernel, COMPUTE, call)
            what.args |= {"graph id": graph, "graph node id": graph * 65536 + node}
            record = self.enqueue(call, "kernel", COMPUTE, what)
            record.graph = call.args["correlation"]
            done.append(record)
        return done

    def orphan(self, kernel: Kernel, starts_at: int, cause: str = "") -> Record:
        """Let a kernel run whose launch the trace does not hold."""
        what = self.kernel_slice(kernel, COMPUTE, None)
        what.start, what.end = starts_at, starts_at + what.end
        self.free[COMPUTE] = what.end
        record = Record(what, "kernel", None, None, None)
        self.records.append(record)
        if cause:
            self.planted.append(Plan(cause, record))
        return record

    def synchronise(self, name: str, returns_after_ns: int) -> Slice:
        """Block the host until the device has drained and then a little longer."""
        waits = max(self.drained_at - self.now, 0) + returns_after_ns
        call = self.call(name, waits, "synchronisation or blocking copy")
        kind, stream = ("Context Sync", -1) if name == "cudaDeviceSynchronize" else ("Stream Sync", COMPUTE)
        self.note_sync(kind, stream, call, {})
        return call

    def wait_event(self, stream: int, on: int) -> Slice:
        """Make a stream wait for what another stream has been given so far."""
        recorded = self.call("cudaEventRecord", self.between(0.9, 1.8))
        self.spend(0.3, 0.8)
        call = self.call("cudaStreamWaitEvent", self.between(0.8, 1.6))
        more = {
            "wait_on_stream": on,
            "wait_on_cuda_event_record_corr_id": recorded.args["correlation"],
            "wait_on_cuda_event_id": 3,
        }
        self.note_sync("Stream Wait Event", stream, call, more)
        self.free[stream] = max(self.free[stream], self.free[on])
        return call

    def note_sync(self, kind: str, stream: int, call: Slice, more: dict[str, Any]) -> None:
        """Write the device's own record of a synchronisation."""
        args = {"External id": call.args["External id"], "cuda_sync_kind": kind, **more}
        args |= {"stream": stream, "correlation": call.args["correlation"], "device": 0, "context": 1}
        lasts = call.end - call.start
        note = Slice(kind, "cuda_sync", 0, stream, call.start + lasts // 8, call.end - lasts // 8, args)
        self.device_notes.append(note)

    def profiler_pause(self, name: str, lasts_ns: int) -> None:
        """Let the profiler itself take the host's time."""
        self.overhead.append(Slice(name, "overhead", -1, 0, self.now, self.now + lasts_ns))
        self.tagged.append(Tagged(self.now, self.now + lasts_ns, "profiler overhead"))
        self.now += lasts_ns

    def allocate(self, size: int) -> None:
        """Write the allocator's note: `size` bytes taken, or given back when negative."""
        self._allocated += size
        args = {
            "Total Reserved": 8_589_934_592,
            "Total Allocated": self._allocated,
            "Bytes": size,
            "Addr": 140_000_000_000_000 + abs(size) * 3,
            "Device Id": 0,
            "Device Type": 1,
            "Ev Idx": self.count("event") - 1,
        }
        self.memory.append((self.now, self.thread, args))


def _product(sizes: Sequence[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product

"""Write the GPU-shaped sample: eight steps of an invented transformer training, with idle holes of every known cause.

    python -m tests.samples.gpu_shaped

writes sample_traces/demo/gpu-training-synthetic.json.gz and beside this file gpu_shaped.truth.json, which states what
an analysis must find: counts, sums, busy and idle time, and for each hole its cause, its length and its parts. Both
come from the machine that was simulated, never from traceview. The same seed gives the same bytes on every platform.

What is planted, and in which steps, is PLANTS. Besides the planted holes there are the ordinary ones: a host that is a
little late after each `.item()`, turnarounds of a microsecond on a busy stream, kernels within one graph.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.samples import kernels as k
from tests.samples.machine import AUTOGRAD_THREAD, COMM, COMPUTE, MAIN_THREAD, Kernel, Machine, Slice, Stretch
from tests.samples.trace_file import write_trace
from tests.samples.truth import truth

SEED = 20
STEPS = 8
LAYERS = 2
FIRST_NUMBER = 4  # a schedule of wait 2 and warm-up 2 came before
ORIGIN_NS = 8_812_340_000_000

PLANTS: dict[str, tuple[int, ...]] = {
    "data loading": (2, 5),
    "host late": (1, 5),
    "allocation or loading": (1, 6),
    "inside the launch call": (0, 3),
    "launch in flight": (2, 6),
    "queued, not started": (3, 7),
    "device turnaround": (4, 7),
    "profiler overhead": (0, 4),
    "stream wait": (2, 5),
    "synchronisation or blocking copy": (3, 7),
    "unknown": (6,),  # a second one comes before the first step
}

TOKENS, MODEL, HEADS, VOCABULARY = 8192, 1024, 16, 8192
ACTIVATION = 16_777_216


class Training:
    """Play the training run on the machine, step by step."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.forward: list[Slice] = []

    def planted(self, cause: str) -> bool:
        """Tell whether the current step holds a hole of this cause."""
        return self.machine.step in PLANTS[cause]

    def run(self) -> None:
        """Play the window: what was left of the warm-up, then the steps, then the profiler's own end."""
        m = self.machine
        start = m.now
        m.orphan(k.DOWN, start - 420_000)
        m.orphan(k.ADAMW, start - 61_000, "unknown")
        with (
            m.span("train.py(88): <module>", "python_function"),
            m.span("train.py(61): train", "python_function"),
        ):
            for number in range(STEPS):
                m.step = number
                self._step(number)
            m.step = None
        m.synchronise("cudaDeviceSynchronize", 9_000)

    def _step(self, number: int) -> None:
        m = self.machine
        before = len(m.records)
        with m.span(f"ProfilerStep#{FIRST_NUMBER + number}", "user_annotation") as step:
            self._load()
            with m.span("train.py(34): train_step", "python_function"):
                self._forward()
                self._graphed_head()
                self._backward()
                self._clip()
                self._optimise()
                self._read_the_loss()
        own = [r.slice for r in m.records[before:] if r.slice.tid == COMPUTE and r.launch]
        first, last = min(s.start for s in own), max(s.end for s in own)
        note = Slice(step.name, "gpu_user_annotation", 0, COMPUTE, first, last)
        note.args = {"External id": step.args["External id"]}
        m.device_notes.append(note)

    def _load(self) -> None:
        m = self.machine
        if self.planted("unknown"):
            m.orphan(k.CAST, m.drained_at + 150_000, "unknown")
        loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        with m.span("torch/utils/data/dataloader.py(733): __next__", "python_function"):
            slow = self.planted("data loading")
            with m.span(loader, "user_annotation", "data loading"):
                m.spend(*((1900, 2300) if slow else (24, 38)))
        if slow:
            m.stretch = Stretch("data loading")
        pageable = "Pageable" if m.step in (1, 5) else "Pinned"
        for shape, memory in (((8, 1024), "Pinned"), ((8, 1024), pageable)):
            with ExitStack() as stack:
                for name in ("aten::to", "aten::_to_copy", "aten::copy_"):
                    stack.enter_context(m.span(name, args=m.op([shape], "long int")))
                m.copy("HtoD", f"{memory} -> Device", 8 * 1024 * 8, 12.0)

    def _kernel(self, op: str, kernel: Kernel, shapes: list[tuple[int, ...]]) -> Slice:
        """Dispatch one op that launches one kernel."""
        m = self.machine
        with m.span(op, args=m.op(shapes)) as opened:
            m.spend(2.2, 5.5)
            by = "cuLaunchKernelEx" if op.startswith("triton") else "cudaLaunchKernel"
            m.launch(kernel, by=by)
        return opened

    def _saved(self, op: str, kernel: Kernel, shapes: list[tuple[int, ...]]) -> None:
        """Dispatch an op of the forward pass, whose output stays until the backward pass has used it."""
        self.machine.allocate(ACTIVATION)
        self.forward.append(self._kernel(op, kernel, shapes))

    def _linear(self, kernel: Kernel, out: int, inner: int) -> None:
        m = self.machine
        shapes = [(TOKENS, inner), (out, inner), (out,)]
        with m.span("aten::linear", args=m.op(shapes)):
            with (
                m.span("aten::t", args=m.op([(out, inner)])),
                m.span("aten::transpose", args=m.op([(out, inner)])),
            ):
                m.spend(0.5, 1.2)
            self._saved("aten::addmm", kernel, [(out,), (TOKENS, inner), (inner, out)])

    def _forward(self) -> None:
        m = self.machine
        if self.planted(
            "inside the launch call"
        ):  # first use of a module: the driver loads it inside the call
            self._wait_for_drain()
            m.stretch = Stretch("inside the launch call", call_ns=m.between(640, 720))
        with m.span("model.py(71): forward", "python_function"):
            self._saved("aten::embedding", k.EMBEDDING, [(VOCABULARY, MODEL), (8, 1024)])
            for layer in range(LAYERS):
                with m.span(f"nn.Module: Block_{layer}", "python_function", args={"Python module id": layer}):
                    self._block(layer)
            self._saved("aten::native_layer_norm", k.NORM, [(8, 1024, MODEL), (MODEL,), (MODEL,)])
            self._linear(k.HEAD, VOCABULARY, MODEL)
        with m.span("aten::cross_entropy_loss", args=m.op([(TOKENS, VOCABULARY), (TOKENS,)])):
            self._saved("aten::_log_softmax", k.SOFTMAX, [(TOKENS, VOCABULARY)])
            self._saved("aten::nll_loss_forward", k.LOSS, [(TOKENS, VOCABULARY), (TOKENS,)])

    def _block(self, layer: int) -> None:
        m = self.machine
        hidden = (8, 1024, MODEL)
        if layer == 0:
            self._be_late()
        self._saved("aten::native_layer_norm", k.NORM, [hidden, (MODEL,), (MODEL,)])
        self._linear(k.QKV, 3 * MODEL, MODEL)
        if layer == 1:
            self._allocate()
        with m.span("aten::scaled_dot_product_attention", args=m.op([(8, HEADS, 1024, 64)] * 3)):
            self._saved("aten::_flash_attention_forward", k.ATTENTION, [(8, 1024, HEADS, 64)] * 3)
        self._linear(k.PROJECTION, MODEL, MODEL)
        self._saved("aten::add", k.ADD, [hidden, hidden])
        self._saved("aten::native_layer_norm", k.NORM, [hidden, (MODEL,), (MODEL,)])
        if layer == 1:
            self._start_late()
        self._linear(k.UP, 4 * MODEL, MODEL)
        self._saved("triton_poi_fused_gelu_0", k.TRITON_GELU, [(8, 1024, 4 * MODEL)])
        self._linear(k.DOWN, MODEL, 4 * MODEL)
        self._saved("aten::add", k.ADD, [hidden, hidden])

    def _wait_for_drain(self, then_us: float = 3.0) -> None:
        """Let the host dawdle until the device has nothing left."""
        m = self.machine
        m.now = max(m.now, m.drained_at + round(then_us * 1000))

    def _be_late(self) -> None:
        m = self.machine
        if self.planted("host late"):
            m.stretch = Stretch("host late")
            with (
                m.span("model.py(52): build_position_bias", "python_function"),
                m.span("build_position_bias", "user_annotation"),
            ):
                self._wait_for_drain(m.rng.uniform(420, 560))
        if self.planted("profiler overhead"):
            m.stretch = Stretch("profiler overhead")
            pause = max(m.drained_at - m.now, 0) + m.between(300, 380)
            m.profiler_pause("Activity Buffer Request", pause)

    def _allocate(self) -> None:
        m = self.machine
        if not self.planted("allocation or loading"):
            return
        m.stretch = Stretch("allocation or loading")
        with m.span("aten::empty", args=m.op([(8, 1024, HEADS, 64)])):
            if m.step == PLANTS["allocation or loading"][1]:  # out of memory: give back, then take again
                m.call(
                    "cudaFree", max(m.drained_at - m.now, 0) + m.between(170, 210), "allocation or loading"
                )
                m.allocate(-67_108_864)
                m.spend(1.0, 2.0)
            m.call("cudaMalloc", max(m.drained_at - m.now, 0) + m.between(260, 330), "allocation or loading")
            m.allocate(67_108_864)

    def _start_late(self) -> None:
        m = self.machine
        if self.planted("launch in flight"):
            self._wait_for_drain()
            m.stretch = Stretch("launch in flight", flight_ns=m.between(58, 84))
        elif self.planted("queued, not started"):
            if (
                m.step == PLANTS["queued, not started"][0]
            ):  # launched onto an idle device, which does not begin
                self._wait_for_drain()
                m.stretch = Stretch("queued, not started", flight_ns=m.between(250, 290))
            else:  # launched long before the device came free, which then does not begin
                m.stretch = Stretch("queued, not started", starts_at=m.drained_at + m.between(210, 240))

    def _graphed_head(self) -> None:
        m = self.machine
        with m.span("Graphed", args=m.op([(8, 1024, MODEL)])):
            m.graph_launch(k.GRAPHED, graph=17)

    def _backward(self) -> None:
        m = self.machine
        with m.span("torch/_tensor.py(648): backward", "python_function"):
            m.spend(14, 22)
            m.thread = AUTOGRAD_THREAD
            self._gradient("NllLossBackward0", "aten::nll_loss_backward", k.SOFTMAX_BACKWARD)
            self._gradient("AddmmBackward0", "aten::mm", k.INPUT_GRADIENT, k.WEIGHT_GRADIENT)
            for layer in reversed(range(LAYERS)):
                self._block_backward(layer)
                self._all_reduce(13_107_200 if layer else 8_388_608)
            self._gradient("EmbeddingBackward0", "aten::embedding_dense_backward", k.EMBEDDING_BACKWARD)
            while self.forward:  # views and masks, whose gradients launch nothing
                self.forward.pop()
                m.allocate(-ACTIVATION)
            m.thread = MAIN_THREAD
            m.spend(6, 9)

    def _block_backward(self, layer: int) -> None:
        self._gradient("AddmmBackward0", "aten::mm", k.INPUT_GRADIENT, k.WEIGHT_GRADIENT)
        self._gradient("GeluBackward0", "aten::gelu_backward", k.GELU_BACKWARD)
        if layer == 0 and self.planted("device turnaround"):
            m = self.machine
            m.stretch = Stretch("device turnaround", starts_at=m.drained_at + m.between(14, 22))
        self._gradient("AddmmBackward0", "aten::mm", k.INPUT_GRADIENT, k.WEIGHT_GRADIENT)
        self._gradient("NativeLayerNormBackward0", "aten::native_layer_norm_backward", k.NORM_BACKWARD)
        self._gradient("AddmmBackward0", "aten::mm", k.PROJECTION, k.WEIGHT_GRADIENT)
        self._gradient(
            "ScaledDotProductFlashAttentionBackward0",
            "aten::_flash_attention_backward",
            k.ATTENTION_BACKWARD,
        )
        self._gradient("AddmmBackward0", "aten::mm", k.INPUT_GRADIENT, k.WEIGHT_GRADIENT)
        self._gradient("AddBackward0", "aten::add_", k.ADD)

    def _gradient(self, node: str, op: str, *kernels: Kernel) -> None:
        m = self.machine
        number = len(m.forward_backward) // 2 + 1
        outer = m.span(
            f"autograd::engine::evaluate_function: {node}",
            args={"Sequence number": number, "Fwd thread id": 1},
        )
        with outer, m.span(node, args={"Sequence number": number, "Fwd thread id": 1}) as opened:
            for kernel in kernels:
                self._kernel(op, kernel, [(TOKENS, MODEL), (MODEL, MODEL)])
        if self.forward:
            source = self.forward.pop()
            m.allocate(-ACTIVATION)
            m.forward_backward.append((number, "s", source.start, source.tid))
            m.forward_backward.append((number, "f", opened.start, opened.tid))

    def _all_reduce(self, elements: int) -> None:
        self._collective("allreduce", "c10d::allreduce_", "nccl:all_reduce", k.ALL_REDUCE, elements, elements)

    def _collective(self, *what: Any) -> None:
        name, op, annotation, kernel, sent, received = what
        m = self.machine
        group = {
            "Collective name": name,
            "In msg nelems": sent,
            "Out msg nelems": received,
            "Group size": 4,
            "dtype": "BFloat16",
            "In split size": "[]",
            "Out split size": "[]",
            "Process Group Name": "0",
            "Process Group Description": "default_pg",
            "Process Group Ranks": "[0, 1, 2, 3]",
        }
        with (
            m.span(annotation, "user_annotation") as noted,
            m.span(op, args=m.op([(sent,)])),
            m.span("record_param_comms", args={**group, "Rank": 0, "Seq": m.count("node")}),
        ):
            m.wait_event(COMM, COMPUTE)
            m.spend(1.5, 3.0)
            outer = m.now
            record = m.launch(kernel, COMM, "cudaLaunchKernelExC")
            inner = m.call("cuLaunchKernelEx", 1_900)  # the runtime call uses the driver: one launch, not two
            m.now = record.launch.end if record.launch else m.now
            inner.start, inner.end = outer + 700, outer + 2_600
            record.kind = "collective"
            record.slice.args |= group
        lane = Slice(noted.name, "gpu_user_annotation", 0, COMM, record.slice.start, record.slice.end)
        lane.args = {"External id": noted.args["External id"]}
        m.device_notes.append(lane)

    def _clip(self) -> None:
        """Wait for the gradients of all ranks, then clip; some steps stop the host for it."""
        m = self.machine
        m.wait_event(COMPUTE, COMM)
        if self.planted("stream wait"):
            m.stretch = Stretch("stream wait", starts_at=m.drained_at + m.between(128, 150))
        with m.span("train.py(47): clip_gradients", "python_function"):
            self._kernel("aten::linalg_vector_norm", k.NORM_OF_GRADIENTS, [(21_495_808,)])
            if self.planted("synchronisation or blocking copy"):
                m.synchronise("cudaDeviceSynchronize", m.between(84, 97))
                m.stretch = Stretch("synchronisation or blocking copy")
            self._kernel("aten::mul_", k.SCALE, [(21_495_808,)])
            self._collective(
                "_allgather_base",
                "c10d::_allgather_base_",
                "nccl:_all_gather_base",
                k.ALL_GATHER,
                25_136,
                100_544,
            )
            m.wait_event(COMPUTE, COMM)

    def _optimise(self) -> None:
        m = self.machine
        with (
            m.span("torch/optim/adamw.py(220): step", "python_function"),
            m.span("Optimizer.step#AdamW.step", "user_annotation"),
        ):
            for _ in range(2):
                self._kernel("aten::_fused_adamw_", k.ADAMW, [(10_747_904,)] * 4)
        with (
            m.span("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation"),
            m.span("aten::zero_", args=m.op([(21_495_808,)])),
        ):
            m.fill(42_991_616)
        with (
            m.span("aten::clone", args=m.op([(MODEL, MODEL)])),
            m.span("aten::copy_", args=m.op([(MODEL, MODEL)] * 2)),
        ):
            m.copy("DtoD", "Device -> Device", 2 * MODEL * MODEL, 1_450.0)

    def _read_the_loss(self) -> None:
        m = self.machine
        if m.step in (3, 7):
            with (
                m.span("aten::to", args=m.op([(8,)], "float")),
                m.span("aten::copy_", args=m.op([(8,)], "float")),
            ):
                m.copy("DtoH", "Device -> Pageable", 32, 0.02)
        with (
            m.span("aten::item", args=m.op([()], "float")),
            m.span("aten::_local_scalar_dense", args=m.op([()], "float")),
        ):
            m.copy("DtoH", "Device -> Pinned", 4, 0.004)
            m.synchronise("cudaStreamSynchronize", m.between(5, 9))


def simulate(seed: int = SEED) -> Machine:
    """Play the whole run and return the machine with everything that happened."""
    machine = Machine(seed, ORIGIN_NS)
    Training(machine).run()
    return machine


def write(trace: Path, facts: Path, say: Callable[[str], None] = print) -> None:
    """Write the trace and its truth."""
    machine = simulate()
    write_trace(machine, trace)
    what = {"generator": f"tests/samples/gpu_shaped.py, seed {SEED}", "trace": trace.name, **truth(machine)}
    holes = what.pop("holes")
    head = json.dumps(what, indent=1)[:-2]
    rows = ",\n".join("  " + json.dumps(row) for row in holes)
    facts.write_text(f'{head},\n "holes": [\n{rows}\n ]\n}}\n', encoding="utf-8")
    say(f"wrote {trace} ({trace.stat().st_size / 1000:.0f} kB) and {facts}")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    demo = here.parent.parent / "sample_traces" / "demo"
    write(demo / "gpu-training-synthetic.json.gz", here / "gpu_shaped.truth.json")

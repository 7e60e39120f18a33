"""Programs that compile, script, export, pickle or copy their models run as without us, and their steps are seen.

Each is a process of its own, once by itself and once under `traceview capture`: both make as many graphs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from tests.capture.forks import Ended, forked
from traceview.capture.watching import Steps

CALL = "_compiled_call_impl"

HEAD = '''
import copy, io, json, os, pickle, signal, sys, threading
import torch, torch._dynamo, torch._inductor, torch.export, traceview.analyses  # what each would import by itself
from traceview.cli import run
torch.set_num_threads(1)
BEGIN = """
import copy, io, pickle, warnings
import torch
from torch import nn
from traceview.capture import annotate, record
warnings.filterwarnings("error", message=".*hooks.*")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
class Marked(Net):
    @annotate("forward")
    def forward(self, x):
        with annotate("first"):
            h = self.a(x)
        return self.b(h)
class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
WHOLE, PARTS = dict(backend="eager", fullgraph=True), dict(backend="eager")
x = torch.ones(2, 8)
"""
END = """
from torch._dynamo.utils import counters
print("graphs", counters["stats"].get("unique_graphs", 0), flush=True)
"""
def program(text, step_on="auto"):
    with open("job.py", "w") as file:
        file.write(BEGIN + text + END)
    captured = os.fork()
    if not captured:
        words = ["capture", "--wait", "1", "--warmup", "2", "--active", "4", "-o", "out", "--step-on", step_on]
        os._exit(run([*words, "--", "job.py"]))
    assert os.waitpid(captured, 0)[1] == 0
    main = sys.modules["__main__"] = type(sys)("__main__")
    exec(compile(open("job.py").read(), "job.py", "exec"), vars(main))
class Nothing:
    steps = 9
    def __init__(self, *_, **__): pass
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def step(self): pass
def recorded(text):
    captured = os.fork()
    names = {}
    if captured:
        assert os.waitpid(captured, 0)[1] == 0
    exec(compile(BEGIN, "begin", "exec"), names)
    if captured:
        names["record"] = Nothing
    exec(compile(text + END, "job.py", "exec"), names)
    if not captured:
        os._exit(0)
'''
STEPS = "for i in range(9): model(x)"
SEEN = {
    "compiled whole": "model = torch.compile(Net(), **WHOLE)",
    "compiled in parts": "model = torch.compile(Net(), **PARTS)",
    "compiled in place": "model = Net(); model.compile(**WHOLE)",
    "compiled after it ran": "model = Net(); model(x); model(x); model = torch.compile(model, **WHOLE)",
    "compiled in place after it ran": "model = Net(); model(x); model(x); model.compile(**WHOLE)",
    "its layers are compiled": "model = Stack(torch.compile(Net(), **WHOLE) for _ in range(3))",
    "its layers are compiled in place": """
        model = Stack(Net() for _ in range(3))
        for layer in model.layers:
            layer.compile(**WHOLE)
    """,
    "with a call of its own": """
        class Own(Net):
            def __call__(self, x):
                return super().__call__(x) + 1
        model = torch.compile(Own(), **WHOLE)
    """,
    "with phases inside": "model = torch.compile(Marked(), **WHOLE)",
    "of torch.jit": "model = torch.jit.script(Net())",
    "traced by torch.jit": "model = torch.jit.trace(Net(), x)",
    "saved and copied in each step": """
        net = Net()
        def model(x):
            net(x)
            torch.save(net, io.BytesIO())
            pickle.dumps(vars(net))
            copy.deepcopy(net)(x)
    """,
    "compiled in place and saved": """
        net = Net()
        net.compile(**WHOLE)
        def model(x):
            net(x)
            torch.save(net, io.BytesIO())
            copy.deepcopy(net)(x)
    """,
    "scripted, traced and exported while it runs": """
        net = Net()
        def model(x):
            net(x)
            if i in (0, 2, 5):
                torch.jit.script(net), torch.jit.trace(net, x)
                torch.export.export(net, (x,), strict=True), torch.export.export(net, (x,), strict=False)
    """,
    "that calls itself nearly as deep as Python lets it": """
        class Tree(Net):
            def forward(self, x, depth=240):
                return self.a(x) if not depth else self(x, depth - 1)
        model = Tree()
    """,
    "of a class that takes no attribute": """
        class Closed(type):
            def __setattr__(kind, name, value):
                raise AttributeError(name)
        class Shut(Net, metaclass=Closed):
            pass
        model = Shut()
    """,
    "traced by torch.fx": """
        import torch.fx
        net = Stack([Net()] * 2)
        torch.fx.symbolic_trace(net)
        model = torch.fx.symbolic_trace(net)
    """,
    "trained": """
        net = Net()
        best, compiled = torch.optim.SGD(net.parameters(), lr=0.1), torch.compile(net, **WHOLE)
        def model(x):
            compiled(x).sum().backward()
            best.step()
    """,
}
NAMED = {  # what is compiled around a model or an optimizer is a step by its name only
    "a compiled step of training": """
        net = Net()
        best = torch.optim.SGD(net.parameters(), lr=0.1)
        @torch.compile(**PARTS)
        def model(x):
            net(x).sum().backward()
            best.step()
    """,
    "a compiled function": """
        net = Net()
        @torch.compile(**WHOLE)
        def model(x):
            return net(x) + 1
    """,
    "a compiled function with hooks and breaks": """
        net = Net()
        net.register_forward_hook(lambda *a: None)
        @torch.compile(**PARTS)
        def model(x):
            y = net(x)
            torch._dynamo.graph_break()
            return net(y)
    """,
}
RECORDED = {
    "a compiled model that is recorded": "model = torch.compile(Net(), **WHOLE)",
    "a model that is recorded and compiled meanwhile": """
        net, made = Net(), []
        def model(x):
            if i == 1:
                made.append(torch.compile(net, **WHOLE))
            return (made or [net])[0](x)
    """,
    "a compiled function with hooks that is recorded": """
        net = Net()
        net.register_forward_hook(lambda *a: None)
        model = torch.compile(lambda x: net(x) * 2, **WHOLE)
        model(x)
    """,
    "a compiled function that steps": """
        net = Net()
        @torch.compile(**PARTS)
        def model(x):
            net(x)
            steps.step()
    """,
}
RECORD = """
with record("t", "out", wait=1, warmup=2, active=4) as steps:
    for i in range(9):
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            model(x)
        if not is_stepping:
            steps.step()
assert steps.steps == 9, steps.steps
"""


def scenarios() -> dict[str, str]:
    """Return the program of each scenario, run twice."""
    found = {name: (f"{dedent(text)}\n{STEPS}", "auto") for name, text in SEEN.items()}
    found |= {name: (f"{dedent(text)}\n{STEPS}", ":model") for name, text in NAMED.items()}
    found |= {f"{name}, unnamed": (f"{dedent(text)}\n{STEPS}", "auto") for name, text in NAMED.items()}
    programs = {name: f"program(*{job!r})" for name, job in found.items()}
    for name, text in RECORDED.items():
        job = f"{dedent(text)}\nis_stepping = {'steps.step' in text}\n{RECORD}"
        programs[name] = f"recorded({job!r})"
    return programs


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """Run every program; return how each ended."""
    return forked(HEAD, scenarios(), tmp_path_factory.mktemp("compiled"))


@pytest.mark.parametrize("name", scenarios())
def test_a_program_runs_as_without_us_and_makes_as_many_graphs(ended: dict[str, Ended], name: str) -> None:
    found = ended[name]
    assert found.status == 0, found.said
    watched, bare = re.findall(r"^graphs (\d+)$", found.said, re.MULTILINE)
    assert watched == bare, found.said


@pytest.mark.parametrize("name", [*SEEN, *NAMED, *RECORDED])
def test_its_steps_are_recorded(ended: dict[str, Ended], name: str) -> None:
    (sidecar,) = (ended[name].folder / "out").glob("*.capture.json")
    assert json.loads(sidecar.read_text(encoding="utf-8"))["window"]["recorded"] == 4


@pytest.mark.parametrize("name", NAMED)
def test_of_steps_inside_a_compiled_function_it_is_said_that_they_are_not_seen(
    ended: dict[str, Ended], name: str
) -> None:
    said = ended[f"{name}, unnamed"].said
    assert "what runs inside of a compiled function is not seen" in said
    assert "--step-on" in said


@pytest.mark.parametrize("name", [n for n in RECORDED if "function" not in n])
def test_autocast_around_a_compiled_model_is_noted(ended: dict[str, Ended], name: str) -> None:
    (sidecar,) = (ended[name].folder / "out").glob("*.capture.json")
    settings = json.loads(sidecar.read_text(encoding="utf-8"))["settings"]
    assert (settings["autocast"], settings["grad"]) == ("bfloat16", False)


def test_nothing_is_left_in_torch_or_in_a_model(torch: Any) -> None:
    from torch.optim import optimizer

    def places() -> list[Any]:
        hooks = optimizer._global_optimizer_post_hooks
        kinds = (torch.nn.Module, torch.nn.Sequential)
        return [
            torch.compile,
            torch.optim.Optimizer.__init__,
            len(hooks),
            *(vars(k).get(CALL) for k in kinds),
        ]

    before, seen = places(), []
    watched = Steps("auto", lambda: seen.append(1), lambda: None)
    watched.watch()
    assert [a is b for a, b in zip(before, places(), strict=True)] == [False, False, False, False, True]
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    placed = torch.nn.Linear(2, 2)
    placed.compile(backend="eager")
    for _ in range(3):
        model(torch.ones(2))
    assert vars(torch.nn.Sequential)[CALL]
    assert vars(torch.nn.Module)[CALL] is None
    watched.close()
    assert places() == before
    assert len(seen) == 3
    assert CALL not in vars(model)
    assert not type(vars(placed)[CALL]).__module__.startswith("traceview")


def modules_made_anew(torch: Any) -> None:
    """Call a module of this iteration alone before the model of all."""
    model = torch.nn.Linear(2, 2)
    for _ in range(10):
        model(torch.nn.Identity()(torch.ones(2)))


def a_model_for_each_fold(torch: Any) -> None:
    for _ in range(5):
        model = torch.nn.Linear(2, 2)
        for _ in range(10):
            model(torch.ones(2))


def layers_that_run_again_in_the_backward(torch: Any) -> None:
    from torch.utils.checkpoint import checkpoint

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            for _ in range(3):
                x = checkpoint(self.layer, x, use_reentrant=True)
            return x

    model = Model()
    for _ in range(5):
        model(torch.ones(2, requires_grad=True)).sum().backward()


def an_inner_optimizer_made_anew(torch: Any) -> None:
    model = torch.nn.Linear(2, 2)
    outer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        inner = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            inner.step()
        outer.step()


def an_optimizer_that_follows_one_that_is_gone(torch: Any) -> None:
    model = torch.nn.Linear(2, 2)
    for _ in range(2):
        best = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(10):
            best.step()


@pytest.mark.parametrize(
    ("program", "steps"),
    [
        (modules_made_anew, 10 + 2),  # until the model comes again, every outermost module is a step
        (a_model_for_each_fold, 50),
        (layers_that_run_again_in_the_backward, 5),
        (an_inner_optimizer_made_anew, 20 + 3),  # until the one that was made first steps
        (an_optimizer_that_follows_one_that_is_gone, 20),
    ],
)
def test_steps_are_those_of_the_model_or_of_the_first_optimizer(
    torch: Any, program: Callable[[Any], None], steps: int
) -> None:
    seen: list[int] = []
    watched = Steps("auto", lambda: seen.append(1), lambda: None)
    watched.watch()
    try:
        program(torch)
    finally:
        watched.close()
    assert len(seen) == steps

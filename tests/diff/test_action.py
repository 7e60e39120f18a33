"""The action and the example workflow: they parse, and the commands in them run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.analyses import making
from tests.architecture.source import ROOT
from tests.diff.test_command import saved

FOLDER = ROOT / ".github" / "actions" / "traceview"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
WORKFLOW: dict[str, Any] = yaml.safe_load((FOLDER / "example.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def compare(folder: Path, **inputs: str) -> tuple[int, dict[str, str], str]:
    """Run the action's comparison; return its status, its outputs and the step summary."""
    values = {name: str(i.get("default", "")) for name, i in ACTION["inputs"].items()} | inputs
    given = {
        key: values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
        for key, text in STEPS["Compare"]["env"].items()
    }
    bin_folder = folder / "bin"
    bin_folder.mkdir(exist_ok=True)
    python = bin_folder / "python"
    if not python.exists():
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)
    places = {"GITHUB_OUTPUT": folder / "output", "GITHUB_STEP_SUMMARY": folder / "summary"}
    environment = {
        **os.environ, **given, **{k: str(v) for k, v in places.items()},
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    run = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS["Compare"]["run"]]
    done = subprocess.run(run, cwd=folder, env=environment, check=False, timeout=120, capture_output=True)
    assert done.returncode == 0, done.stderr
    told = dict(
        line.split("=", 1) for line in places["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
    )
    summary = places["GITHUB_STEP_SUMMARY"]
    status = subprocess.run(
        ["bash", "-c", STEPS["Say how it ended"]["run"]],
        env={**os.environ, "TRACEVIEW_STATUS": told["status"]},
        check=False,
    )
    return status.returncode, told, summary.read_text(encoding="utf-8") if summary.exists() else ""


def test_the_action_compares_and_leaves_page_comment_and_summary(tmp_path: Path) -> None:
    base, new = saved(tmp_path / "base.json"), saved(tmp_path / "new.json", 1.3)
    status, told, summary = compare(tmp_path, base=base, new=new)
    assert status == 0
    assert told["verdict"].startswith("Step time")
    assert (tmp_path / "traceview-diff.html").exists()
    assert summary.startswith("<!-- traceview:diff:")
    assert (tmp_path / told["comment"]).read_text(encoding="utf-8") == summary


def test_a_failed_gate_fails_the_job_after_everything_was_written(tmp_path: Path) -> None:
    base, new = saved(tmp_path / "base.json"), saved(tmp_path / "new.json", 1.3)
    status, told, summary = compare(tmp_path, base=base, new=new, **{"fail-on": "gpu_busy>5%\nlaunches>5x\n"})
    assert (status, told["status"]) == (1, "1")
    assert "❌" in summary


def test_inputs_are_words_and_never_code(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.json")
    evil = f"{base}$(touch {tmp_path}/owned)"
    status, _, _ = compare(tmp_path, base=evil, new=base, options="--title\n$(touch owned); `touch owned`")
    assert status == 3
    assert not (tmp_path / "owned").exists()


def test_the_example_uses_inputs_that_the_action_has() -> None:
    (step,) = [
        s for s in WORKFLOW["jobs"]["compare"]["steps"] if str(s.get("uses", "")).endswith("/traceview")
    ]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    required = {name for name, i in ACTION["inputs"].items() if i.get("required")}
    assert required <= step["with"].keys()


def test_the_example_runs_with_the_sample(tmp_path: Path) -> None:
    steps = {s.get("name"): s for s in WORKFLOW["jobs"]["compare"]["steps"]}
    (tmp_path / "sample_traces").symlink_to(ROOT / "sample_traces")
    subprocess.run(["bash", "-ec", steps["Profile"]["run"]], cwd=tmp_path, check=True)
    status, told, summary = compare(tmp_path, **steps["Compare"]["with"])
    assert status == 0, summary
    assert "unchanged" in told["verdict"]


def test_the_comment_step_replaces_its_comment_or_makes_one(tmp_path: Path) -> None:
    steps = {s.get("name"): s for s in WORKFLOW["jobs"]["compare"]["steps"]}
    (tmp_path / "c.md").write_text("<!-- traceview:diff:abc -->\ntext\n", encoding="utf-8")
    gh = tmp_path / "gh"
    gh.write_text(
        '#!/bin/sh\ncase "$*" in *PATCH*|*POST*) echo "$*" >> calls;; *) printf "%s" "$FOUND";; esac\n',
        encoding="utf-8",
    )
    gh.chmod(0o755)
    for found, expected in (("", "POST"), ("42\n", "comments/42")):
        environment = {
            **os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "FOUND": found,
            "GITHUB_REPOSITORY": "o/r", "PULL_REQUEST": "7", "COMMENT": "c.md",
        }  # fmt: skip
        subprocess.run(
            ["bash", "-eo", "pipefail", "-c", steps["Comment"]["run"]],
            cwd=tmp_path,
            env=environment,
            check=True,
        )
        assert expected in (tmp_path / "calls").read_text(encoding="utf-8").splitlines()[-1]


def test_runs_that_cannot_be_compared_end_the_job_with_status_4(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.json")
    cpu = tmp_path / "cpu.json"
    cpu.write_bytes(making.text(making.op("aten::mm", 1, 50)))
    for _ in range(2):  # the files of a run before are no reason to force anything
        status, told, summary = compare(tmp_path, base=base, new=str(cpu), **{"fail-on": "gpu_busy>5%"})
        assert (status, told["status"]) == (4, "4")
        assert "Not comparable" in summary

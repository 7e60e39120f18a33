"""The wheel holds what it should, and works where no checkout is."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT

SAMPLE = "traceview/_assets/sample_traces/demo/gpu-training-synthetic.json.gz"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel into a folder, as pip does, beside the libraries of this environment."""
    target = tmp_path_factory.mktemp("installed")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
    ]
    done = subprocess.run([*pip, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def run(installed: Path, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the installed traceview in a folder outside the checkout."""
    env = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
    env.pop("PYTHONWARNINGS", None)
    return subprocess.run(
        [sys.executable, *args], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def expected_files() -> set[str]:
    """Return what the wheel must hold, by rule: the package, the templates, the demo samples and their README."""
    code = {p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix != ".pyc"}
    files = {p.relative_to(ROOT).as_posix() for p in code if "_assets" not in p.parts}
    templates = {p for p in (ROOT / "templates").rglob("*") if p.is_file()}
    samples = {*(ROOT / "sample_traces" / "demo").iterdir(), ROOT / "sample_traces" / "README.md"}
    return files | {f"traceview/_assets/{p.relative_to(ROOT).as_posix()}" for p in templates | samples}


def test_the_wheel_holds_package_templates_and_demo_samples_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
        described = {n.split("/", 1)[1] for n in archive.namelist() if ".dist-info/" in n}
    assert names == expected_files()
    assert {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"} == described


def test_the_wheel_stays_small(wheel: Path) -> None:
    assert wheel.stat().st_size < 2_000_000


def test_the_installed_wheel_writes_a_report_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    where = run(installed, tmp_path, "-c", "import traceview; print(traceview.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(installed), where
    done = run(installed, tmp_path, "-m", "traceview", "report", str(installed / SAMPLE), "-o", "out.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "Synthetic GPU" in page
    assert "Content-Security-Policy" in page
    assert "plotly.js" in page


def test_the_installed_wheel_finds_its_assets(installed: Path, tmp_path: Path) -> None:
    code = "from traceview.assets import asset; print(asset('sample_traces/demo')); print(asset('templates'))"
    done = run(installed, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert all(Path(line).is_relative_to(installed) for line in done.stdout.split())

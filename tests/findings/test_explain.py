"""Every rule, warning and error has a text, and the texts say what the code does."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from tests.test_docs import codes_in_source, first_cells
from traceview import errors
from traceview.cli import run
from traceview.findings import RULES
from traceview.findings.explain import explain, explanations
from traceview.findings.finding import Rule

PLACE = Path(__file__).parents[2] / "traceview" / "explanations"
RULE_PARTS = ["What it means", "How it is found", "What to do", "When it is wrong"]


def test_every_rule_has_a_text_under_its_title_and_no_text_is_left_over() -> None:
    assert explanations()["rules"] == {r.slug: r.title for r in RULES}


def test_every_warning_code_has_a_text() -> None:
    assert set(explanations()["warnings"]) == first_cells("Warning codes") | codes_in_source()


def test_every_error_has_a_text() -> None:
    assert set(explanations()["errors"]) == first_cells("Errors")
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.TraceviewError)]
    assert {k.slug for k in kinds} - {"error"} <= set(explanations()["errors"])


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.slug)
def test_a_rules_text_says_what_it_means_how_it_is_found_what_to_do_and_when_it_is_wrong(rule: Rule) -> None:
    heads = re.findall(r"^## (.+)$", explain(rule.slug), re.MULTILINE)
    assert [h for h in heads if h != "Thresholds"] == [*RULE_PARTS, "Severity"]


def shown(name: str, value: object) -> str:
    """Return a threshold as the texts write it."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if name.endswith("_NS"):
        return f"{int(value) // 1000:,} µs"  # type: ignore[call-overload]
    return f"{value:.0%}".replace("%", " %") if isinstance(value, float) and value < 1 else str(value)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.slug)
def test_the_thresholds_of_a_text_are_those_of_the_code(rule: Rule) -> None:
    module = importlib.import_module(rule.check.__module__)
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    names = re.findall(r"^([A-Z][A-Z_]+) = \(?\d", source, re.MULTILINE)
    said = re.findall(r"^- ([^:]+): .*?\(`([A-Z_]+)`\)$", unwrapped(rule.slug), re.MULTILINE)
    assert {name: shown(name, getattr(module, name)) for name in names} == {n: v for v, n in said}


def unwrapped(slug: str) -> str:
    """Return a text with each item of a list on one line."""
    return (PLACE / "rules" / f"{slug}.md").read_text(encoding="utf-8").replace("\n  ", " ")


def test_the_severities_are_told_with_every_rule() -> None:
    assert "from 15.0 %, medium from 5.0 %, low from 1.0 %" in explain("launch-bound")


def test_explain_prints_a_text_and_lists_all_without_a_slug(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "clock_skew"]) == 0
    assert capsys.readouterr().out.startswith("# Kernels before their launch\n")
    assert run(["explain"]) == 0
    listed = capsys.readouterr().out
    assert all(slug in listed for found in explanations().values() for slug in found)


@pytest.mark.parametrize("slug", ["host-late-gap", "../rules/cpu-only", "", "x" * 300, "cpu-only.md"])
def test_an_unknown_slug_is_wrong_usage_and_never_a_path(
    slug: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", slug]) == 2
    assert capsys.readouterr().err.endswith("[usage]\n")


def test_a_slip_of_the_pen_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    run(["explain", "host-late-gap"])
    assert "did you mean host-late-gaps?" in capsys.readouterr().err

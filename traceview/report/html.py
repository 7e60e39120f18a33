"""Paint a report as one HTML page: the only door to jinja2.

The page asks for nothing from outside. Its policy allows only the scripts it carries, by their
hash; styles stay inline because plotly sets them.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from traceview.assets import asset
from traceview.report.cells import cell_text, direction, visible
from traceview.report.codec import pack_texts, script_json
from traceview.report.view import Cell, ChartsView, NameTable, Report, TableView, TimelineView
from traceview.units import middle

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

STYLES = ("tokens", "page", "blocks", "timeline", "print")
SCRIPTS = (
    "codec",
    "expression",
    "spark",
    "chooser",
    "table",
    "timeline-model",
    "timeline-sides",
    "timeline-links",
    "timeline-rows",
    "timeline-paint",
    "timeline-arrows",
    "timeline-measure",
    "timeline-panel",
    "timeline-find",
    "timeline-input",
    "timeline-help",
    "timeline",
    "charts",
    "main",
)
LIBRARY = "templates/vendor/plotly-basic.min.js"
_HINT = 300  # characters of a full name where the pointer rests, in a page without scripts


def render_html(report: Report) -> str:
    """Return the page; raises ValueError if one of our own scripts could end its block early."""
    return _page(report, _names(report.names))


def _page(report: Report, names: str) -> str:
    tables, charts, timeline = _parts(report)
    scripts = [_script(f"templates/js/{name}.js") for name in SCRIPTS]
    if charts:
        scripts.insert(0, _script(LIBRARY))
    boot = _script("templates/js/boot.js")
    page: str = (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            csp=policy([boot, *scripts]),
            styles=[_trusted(_text(f"templates/css/{name}.css")) for name in STYLES],
            scripts={"boot": _trusted(boot), "page": [_trusted(s) for s in scripts]},
            names=_trusted(names),
            payload=_trusted(timeline.payload if timeline else ""),
            data=_trusted(_data(tables, charts, timeline)),
        )
    )
    return page


def policy(scripts: list[str]) -> str:
    """Return the content security policy that lets exactly these scripts run."""
    digests = (hashlib.sha256(s.encode("utf-8")).digest() for s in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(d).decode('ascii')}'" for d in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def size_without_slices(report: Report) -> int:
    """Return the bytes of a page without its timeline and its dictionary of names."""
    return len(_page(report, "").encode("utf-8"))


def size_of_timeline(timeline: TimelineView) -> int:
    """Return the bytes of the timeline in the page, but for its few lines of text."""
    return len(timeline.payload) + len(script_json(_plain_timeline(timeline)).encode("utf-8"))


def size_of_names(names: NameTable) -> int:
    """Return the bytes of the name dictionary in the page."""
    return len(_names(names))


def _parts(report: Report) -> tuple[list[TableView], list[Any], TimelineView | None]:
    blocks = [b for s in report.sections for b in s.blocks]
    charts = [c for b in blocks if isinstance(b, ChartsView) for c in b.charts]
    timelines = [b for b in blocks if isinstance(b, TimelineView)]
    return [b for b in blocks if isinstance(b, TableView)], charts, timelines[0] if timelines else None


def _data(tables: list[TableView], charts: list[Any], timeline: TimelineView | None) -> str:
    from traceview.report.figures import check_library

    if charts:
        check_library()
    return script_json(
        {
            "tables": [_plain_table(t) for t in tables],
            "charts": [{"id": c.id, "figure": c.figure} for c in charts],
            "timeline": None if timeline is None else _plain_timeline(timeline),
        }
    )


def _plain_table(table: TableView) -> dict[str, Any]:
    return {
        "id": table.id,
        "noun": table.noun,
        "columns": [
            {"label": c.label, "form": c.form, "meaning": c.meaning, "bar": c.bar, "hidden": c.hidden}
            for c in table.columns
        ],
        "rows": [[_number(cell) for cell in row] for row in table.rows],
        "sort": table.sort,
        "page": table.page,
        "others": table.others,
        "base": table.base,
        "trend": table.trend and vars(table.trend),
        "windows": table.windows,
        "shows": table.shows,
    }


def _number(cell: Cell) -> Cell:
    """Drop digits of a float that no form shows."""
    return float(f"{cell:.9g}") if isinstance(cell, float) else cell


def _plain_timeline(timeline: TimelineView) -> dict[str, Any]:
    return {
        "lanes": [vars(lane) for lane in timeline.lanes],
        "windows": [vars(window) for window in timeline.windows],
        "layout": timeline.layout,
    }


@cache
def _names_of(texts: tuple[str, ...], labels: tuple[str, ...]) -> str:
    return pack_texts([texts, labels])


def _names(names: NameTable) -> str:
    return _names_of(names.texts, names.labels)


def _trusted(text: str) -> Markup:
    """Mark our own assets and escaped data as text that jinja may pass on as it is."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 (never called with a text from a trace)


@cache
def _text(path: str) -> str:
    return asset(path).read_text(encoding="utf-8")


def _script(path: str) -> str:
    """Return one of our scripts, sure not to end its own block or to open a comment."""
    text = _text(path)
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{path} cannot stand inside a page")
    return text


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(asset("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["form"] = cell_text
    environment.filters["direction"] = direction
    environment.filters["visible"] = visible
    environment.filters["hint"] = lambda text: middle(text, _HINT)
    return environment

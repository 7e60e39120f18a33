"""The report as plain data: everything a painter needs, nothing that still has to be calculated.

Texts are ready to show (units, rounding and invisible characters settled), table cells are exact
numbers with the form to show them in. Names are indices into `Report.names`.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

Tone = Literal["", "good", "warn", "bad"]
Form = Literal[
    "name", "text", "count", "ms", "us", "share", "bytes", "number", "rate",
    "change_count", "change_ms", "change_us", "change_share", "change_number",
]  # fmt: skip
Cell = int | float | str | None


TIMELINE_BUDGET = 150_000  # items of the timeline: with these a page keeps to its limit of size


@dataclass(frozen=True)
class ReportOptions:
    """Choose what the page shows: `top` rows of a table, `timeline_budget` items of the timeline.

    A larger budget than the default is kept whatever the size of the page. `command` is what the page was
    asked for with, to be shown.
    """

    title: str | None = None
    top: int = 500
    show_paths: bool = False
    timeline_budget: int = TIMELINE_BUDGET
    command: str = ""


@dataclass(frozen=True)
class Chip:
    """Show one fact about the trace under the title."""

    label: str
    text: str


@dataclass(frozen=True)
class BannerLine:
    """Say one thing that limits what the page can claim."""

    code: str
    text: str


@dataclass(frozen=True)
class Kpi:
    """Show one key number with its unit and its base."""

    id: str
    label: str
    value: str
    unit: str = ""
    detail: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Column:
    """Describe a table column; `label` holds the unit, `meaning` the definition, `bar` draws the value.

    The forms change_* show signed differences, and order them by size whatever their sign. A `hidden`
    column is there to be chosen.
    """

    key: str
    label: str
    form: Form
    meaning: str = ""
    bar: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Trend:
    """Hold how a value goes over points, such as steps, for the first rows of a table.

    A row has its lowest, middle and highest value (ns) of all points, and what is drawn: at most
    MOST_POINTS heights of 0..MOST_HEIGHT, from zero to the highest; None is a row without values.
    """

    MOST_POINTS: ClassVar[int] = 60
    MOST_HEIGHT: ClassVar[int] = 99
    label: str
    meaning: str
    form: Form
    points: str
    rows: tuple[tuple[int, int, int, tuple[int, ...]] | None, ...]


@dataclass(frozen=True)
class TableView:
    """Hold the rows of a table; ns for the forms ms and us, 0..1 for share, a name index for name.

    `base` says of what the shares are, and what else must be read beside the columns. `windows` are
    what each row shows in the timeline (ns from the trace's origin, None: nothing), `shows` says what it is.
    """

    kind: ClassVar[str] = "table"
    id: str
    noun: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sort: int
    page: int = 25
    others: str = ""
    base: str = ""
    trend: Trend | None = None
    windows: tuple[tuple[int, int] | None, ...] = ()
    shows: str = ""


@dataclass(frozen=True)
class SplitPart:
    """Hold one part of a whole; `token` names its colour."""

    label: str
    token: str
    part: float
    share: str
    duration: str
    meaning: str


@dataclass(frozen=True)
class SplitBar:
    """Split the span of one device into parts that add up to it."""

    label: str
    base: str
    parts: tuple[SplitPart, ...]


@dataclass(frozen=True)
class SplitView:
    """Show where the time of each device went."""

    kind: ClassVar[str] = "split"
    bars: tuple[SplitBar, ...]
    others: str = ""


@dataclass(frozen=True)
class Fact:
    """Show one named value with its definition."""

    label: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class FactsView:
    """Show named values side by side."""

    kind: ClassVar[str] = "facts"
    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class DefinitionsView:
    """List terms with their definitions."""

    kind: ClassVar[str] = "definitions"
    title: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CopiesView:
    """Show texts to copy, each with what it is."""

    kind: ClassVar[str] = "copies"
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Said:
    """Hold a piece of a text; `row` is the row of a table that it names, as table-number, `section` the table's."""

    text: str
    row: str = ""
    section: str = ""


@dataclass(frozen=True)
class FindingView:
    """Hold one finding; `mark` is the shape of its severity, `window` ns from the origin.

    `explanation` has the paragraphs of its documentation, each with its kind: heading, item or text.
    """

    slug: str
    title: str
    severity: str
    mark: str
    sentence: str
    stake: str
    evidence: tuple[tuple[str, tuple[Said, ...]], ...]
    advice: str
    confidence: str
    window: tuple[int, int] | None
    where: str
    explanation: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class FindingsView:
    """Show findings, worst first, and what was asked besides: a line to fold, and its texts."""

    kind: ClassVar[str] = "findings"
    findings: tuple[FindingView, ...]
    folded: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class ChangeView:
    """Say one thing that changed: `mark` and `word` tell whether it is claimed, and which way it went.

    `turn` is "rise" or "fall", or empty where nothing is claimed.
    """

    mark: str
    word: str
    turn: str
    text: tuple[Said, ...]


@dataclass(frozen=True)
class ChangesView:
    """List what changed, claims first."""

    kind: ClassVar[str] = "changes"
    items: tuple[ChangeView, ...]


@dataclass(frozen=True)
class ChartView:
    """Hold one plotly figure; `alt` says in a sentence what it shows, `height` is in CSS pixels.

    `table` is the table of the page that holds its numbers.
    """

    id: str
    title: str
    note: str
    alt: str
    height: int
    figure: dict[str, Any]
    table: str = ""


@dataclass(frozen=True)
class ChartsView:
    """Show charts side by side."""

    kind: ClassVar[str] = "charts"
    charts: tuple[ChartView, ...]


@dataclass(frozen=True)
class Legend:
    """Name one colour of the timeline."""

    label: str
    token: str


@dataclass(frozen=True)
class Lane:
    """Show one stream or thread: `rows` rows of the timeline, from row `first` on.

    `device` marks lanes of device work; `track` is the lane's track in the trace, `owner` what its device
    is called. A lane without rows is a line: `points` are its first point in the columns line_*, and
    how many there are.
    """

    label: str
    note: str
    first: int
    rows: int
    device: bool
    track: int = -1
    owner: str = ""
    points: tuple[int, int] | None = None


@dataclass(frozen=True)
class Window:
    """Hold a stretch of the timeline worth a look, in ns from its zero; `exact`: all slices in it are single."""

    label: str
    start: int
    end: int
    exact: bool


@dataclass(frozen=True)
class TimelineView:
    """Hold the encoded slices (see timeline.encode) and what is needed to draw them.

    The first of `windows` is a representative step, or what stands for one.
    """

    kind: ClassVar[str] = "timeline"
    note: str
    legend: tuple[Legend, ...]
    lanes: tuple[Lane, ...]
    windows: tuple[Window, ...]
    layout: dict[str, Any]
    payload: str


Block = (
    TableView
    | SplitView
    | FactsView
    | DefinitionsView
    | CopiesView
    | FindingsView
    | ChangesView
    | ChartsView
    | TimelineView
)


@dataclass(frozen=True)
class SectionView:
    """Hold one section of the page; `empty` says why it shows nothing and how to record what it needs."""

    id: str
    title: str
    note: str = ""
    blocks: tuple[Block, ...] = ()
    empty: str = ""


@dataclass(frozen=True)
class NameTable:
    """Hold every name shown: the text, and a short label where one differs ("" elsewhere)."""

    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    shortened: int = 0

    def label(self, index: int) -> str:
        """Return what stands for a name in a table."""
        return self.labels[index] or self.texts[index]


@dataclass(frozen=True)
class Report:
    """Hold the whole page as plain data; `banner_title` says what the lines of the banner are about."""

    title: str
    verdict: str
    chips: tuple[Chip, ...] = ()
    banner: tuple[BannerLine, ...] = ()
    kpis: tuple[Kpi, ...] = ()
    sections: tuple[SectionView, ...] = ()
    names: NameTable = field(default_factory=NameTable)
    version: str = ""
    schema: str = "traceview.report/1"
    banner_title: str = "Data quality"

    def _repr_html_(self) -> str:
        numbers = "".join(
            f"<dt>{html.escape(k.label)}</dt><dd>{html.escape(f'{k.value} {k.unit}'.strip())}</dd>"
            for k in self.kpis
        )
        return f"<h3>{html.escape(self.title)}</h3><p>{html.escape(self.verdict)}</p><dl>{numbers}</dl>"

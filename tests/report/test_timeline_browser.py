"""The timeline in a browser: arrows, measuring, touch, windows, keys, links that survive another build."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.analyses.making import Event, analysed, call, kernel, launch, op
from tests.pages import GPU_SAMPLE, Visit, Visitor
from tests.report.test_browser import CANVAS, RANGE, focus, selected, show_all, width
from tests.report.test_focus import crowded
from traceview.analyses import analyze
from traceview.assets import asset
from traceview.report import ReportOptions, build_report, render_html
from traceview.sources import read_trace

PRESSED = "document.querySelector('#tv-timeline button[aria-pressed]').getAttribute('aria-pressed')"


def page_of(*events: Event, budget: int = 150_000) -> str:
    return render_html(build_report(analysed(*events), ReportOptions(timeline_budget=budget)))


@cache
def small_page(budget: int) -> str:
    """Return the page of the sample with a timeline of few items."""
    analysis = analyze(read_trace(asset(GPU_SAMPLE)))
    return render_html(build_report(analysis, ReportOptions(timeline_budget=budget)))


def measured(seen: Visit) -> str:
    return str(seen.page.locator(".tl-measured span").inner_text())


def item(seen: Visit, name: str, which: int = 0) -> int:
    """Return the item of the so manieth slice of a name."""
    code = (
        f"[...Array(TV.line.model.items).keys()].filter(i => TV.texts_of(i) === {json.dumps(name)})[{which}]"
    )
    seen.js("TV.texts_of = (i) => TV.names.text(TV.line.model.name(i))")
    return int(seen.js(code))


def corner(seen: Visit) -> tuple[float, float]:
    seen.page.locator(CANVAS).scroll_into_view_if_needed()
    box = seen.page.locator(CANVAS).bounding_box()
    assert box is not None
    return box["x"], box["y"]


def drag(seen: Visit, begin: tuple[float, float], end: tuple[float, float], *held: str) -> None:
    left, top = corner(seen)
    for key in held:
        seen.page.keyboard.down(key)
    seen.page.mouse.move(left + begin[0], top + begin[1])
    seen.page.mouse.down()
    seen.page.mouse.move(left + end[0], top + end[1], steps=4)
    seen.page.mouse.up()
    for key in held:
        seen.page.keyboard.up(key)


# two streams: 0 to 40 µs and 30 to 60 µs, then 80 to 100 µs; between 20 and 90 µs 50 µs of 70 are busy
TWO_STREAMS = [kernel("a", 0, 40), kernel("b", 30, 30, stream=8), kernel("c", 80, 20)]


def test_busy_time_between_two_points_counts_what_streams_share_once_and_is_exact(visit: Visitor) -> None:
    seen = visit(html=page_of(*TWO_STREAMS))
    seen.js("TV.line.measure.drag(20000, 90000, true)")
    assert (
        measured(seen) == "70.000 µs from 20.000 µs to 90.000 µs · GPU 0 busy 71.4 % of it (50.000 µs, exact)"
    )
    assert seen.js("TV.line.measure.busy(0, 100000)") == [{"owner": "GPU 0", "busy": 80_000, "exact": True}]
    assert seen.js("TV.line.measure.busy(62000, 70000)[0].busy") == 0


def test_busy_time_is_that_of_a_count_microsecond_by_microsecond(visit: Visitor) -> None:
    dice = random.Random(11)
    work = [(dice.randrange(1_000), dice.randrange(1, 60), dice.randrange(3)) for _ in range(40)]
    seen = visit(html=page_of(op("first", 0, 1), *(kernel("k", at, long, stream=s) for at, long, s in work)))
    for _ in range(20):
        begin = dice.randrange(900)
        end = begin + dice.randrange(1, 200)
        busy = {t for at, long, _ in work for t in range(at, at + long)} & set(range(begin, end))
        (found,) = seen.js(f"TV.line.measure.busy({begin * 1000}, {end * 1000})")
        assert found["busy"] == pytest.approx(1_000 * len(busy))
        assert found["exact"] is True


@pytest.mark.parametrize("sample", [GPU_SAMPLE, "sample_traces/quirks/two-ranks-merged.json"])
def test_the_whole_is_as_busy_as_the_analysis_says(visit: Visitor, sample: str) -> None:
    seen = visit(sample)
    found = seen.js("TV.line.measure.busy(0, TV.line.model.span)")
    expected = analyze(read_trace(asset(sample))).gpu_time.busy.tolist()
    assert sorted(f["busy"] for f in found) == pytest.approx(sorted(expected))


def test_work_in_rows_that_are_not_drawn_makes_a_measure_an_estimate(visit: Visitor) -> None:
    seen = visit(html=page_of(*(kernel("k", i, 90) for i in range(8))))
    seen.js("TV.line.measure.drag(0, 50000, true)")
    assert "about 100.0 % of it (estimate: not all device work is drawn exactly)" in measured(seen)


def test_each_device_is_measured_for_itself(visit: Visitor) -> None:
    seen = visit(html=page_of(kernel("a", 0, 100), kernel("b", 20, 20, device=1)))
    found = {f["owner"]: f["busy"] for f in seen.js("TV.line.measure.busy(0, 50000)")}
    assert found == {"GPU 0": 50_000, "GPU 1": 20_000}


def test_a_measure_over_merged_slices_is_said_to_be_an_estimate(visit: Visitor) -> None:
    """Hold the estimate of a row of 1 µs in every 2 µs to its true half."""
    events = [kernel("k", 2 * i, 1) for i in range(4_000)]
    seen = visit(html=page_of(*events, budget=200))
    assert seen.js("TV.line.model.number.length") > 0
    seen.js("TV.line.measure.drag(100000, 900000, true)")
    share = re.search(
        r"GPU 0 busy about ([\d.]+) % of it \(estimate: it holds merged slices\)", measured(seen)
    )
    assert share
    assert float(share[1]) == pytest.approx(50, abs=1)


def test_shift_and_drag_measures_says_it_aloud_and_escape_ends_it(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    before = seen.js(RANGE)
    drag(seen, (400, 150), (800, 150), "Shift")
    assert seen.js(RANGE) == before
    begin, end = seen.js("[TV.line.measure.state.from, TV.line.measure.state.to]")
    plot = seen.js("document.querySelector('#tv-timeline canvas').clientWidth") - 200
    assert begin == pytest.approx(before[1] * 200 / plot, abs=before[1] / plot)
    assert end - begin == pytest.approx(before[1] * 400 / plot, abs=2 * before[1] / plot)
    assert re.search(r"^[\d.]+ ms from .* to .*GPU 0 busy [\d.]+ % of it \(.* exact\)$", measured(seen))
    assert seen.page.locator(".tl-measured span").get_attribute("aria-live") == "polite"
    focus(seen)
    seen.page.keyboard.press("Escape")
    assert measured(seen) == ""
    assert not seen.js("TV.line.measure.open")


def test_m_measures_the_chosen_slice_and_from_one_slice_to_another(visit: Visitor) -> None:
    seen = visit(html=page_of(*TWO_STREAMS))
    show_all(seen)
    seen.page.mouse.move(5, 5)
    seen.page.keyboard.press("ArrowRight")
    seen.page.keyboard.press("m")
    assert measured(seen).startswith("First point at 0.000 µs.")
    seen.page.keyboard.press("m")
    assert measured(seen).startswith("40.000 µs from 0.000 µs to 40.000 µs")
    seen.page.keyboard.press("m")  # a new first point, at the chosen slice's begin
    seen.page.keyboard.press("ArrowRight")
    seen.page.keyboard.press("m")
    assert measured(seen).startswith("100.000 µs from 0.000 µs to 100.000 µs · GPU 0 busy 80.0 %")
    seen.page.keyboard.press("Escape")
    assert measured(seen) == ""
    assert seen.js("TV.line.state.chosen") >= 0
    seen.page.keyboard.press("Escape")
    assert seen.js("TV.line.state.chosen") == -1


def test_m_measures_at_the_pointer_where_it_is_over_the_timeline(visit: Visitor) -> None:
    seen = visit(html=page_of(*TWO_STREAMS))
    show_all(seen)
    left, top = corner(seen)
    for x in (460, 860):
        seen.page.mouse.move(left + x, top + 100)
        seen.page.keyboard.press("m")
    begin, end = seen.js("[TV.line.measure.state.from, TV.line.measure.state.to]")
    plot = seen.js("document.querySelector('#tv-timeline canvas').clientWidth") - 200
    assert begin == pytest.approx(100_000 * 260 / plot, abs=200)
    assert end == pytest.approx(100_000 * 660 / plot, abs=200)


def test_the_button_measures_by_two_clicks_and_clear_ends_it(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    seen.page.get_by_role("button", name="Measure", exact=True).click()
    assert seen.js(PRESSED) == "true"
    left, top = corner(seen)
    seen.page.mouse.click(left + 400, top + 200)
    assert "First point at" in measured(seen)
    seen.page.mouse.click(left + 700, top + 200)
    assert re.search(r"GPU 0 busy", measured(seen))
    seen.page.get_by_role("button", name="Clear").click()
    assert measured(seen) == ""
    assert seen.js(PRESSED) == "false"


LAUNCHED = [
    op("a", 0, 900),
    launch(10, 5, 1),
    kernel("near", 40, 20, 1),
    launch(100, 5, 2),
    kernel("far", 800, 50, 2),
]


def chosen(seen: Visit, name: str) -> dict[str, Any]:
    seen.js(f"TV.line.choose({item(seen, name)}, false)")
    seen.js("TV.line.flush()")
    return dict(seen.js("TV.line.arrows.drawn"))


def test_an_arrow_leads_from_the_launch_to_what_it_started_whichever_is_chosen(visit: Visitor) -> None:
    seen = visit(html=page_of(*LAUNCHED))
    show_all(seen)
    for name in ("near", "cudaLaunchKernel"):
        assert chosen(seen, name) == {"lines": 1, "marks": []}
    assert chosen(seen, "a") == {"lines": 0, "marks": []}
    seen.js("TV.line.choose(-1)")
    seen.js("TV.line.flush()")
    assert seen.js("TV.line.arrows.drawn.lines") == 0


def test_the_arrow_begins_at_the_launch_and_ends_at_the_record(visit: Visitor) -> None:
    """Read the curve that is drawn."""
    seen = visit(html=page_of(*LAUNCHED))
    show_all(seen)
    seen.js(f"TV.line.choose({item(seen, 'near')}, false)")
    begin, end = seen.js(
        """(() => {
          const pen = CanvasRenderingContext2D.prototype, move = pen.moveTo, curve = pen.bezierCurveTo; let at, found;
          pen.moveTo = function (x, y) { at = [x, y]; return move.call(this, x, y); };
          pen.bezierCurveTo = function (...p) { found = [at, [p[4], p[5]]]; return curve.apply(this, p); };
          TV.line.flush(); pen.moveTo = move; pen.bezierCurveTo = curve; return found;
        })()"""
    )
    plot = seen.js("document.querySelector('#tv-timeline canvas').clientWidth") - 200
    assert begin[0] == pytest.approx(200 + plot * 10 / 900, abs=4)
    assert end[0] == pytest.approx(200 + plot * 40 / 900 - 5, abs=4)
    assert begin[1] > end[1]  # host lanes lie under those of the device


def test_an_end_out_of_view_is_told_at_the_edge_and_a_click_leads_there(visit: Visitor) -> None:
    seen = visit(html=page_of(*LAUNCHED))
    show_all(seen)
    far = item(seen, "far")
    seen.js("TV.line.show(700000, 900000)")
    (mark,) = chosen(seen, "far")["marks"]
    assert (mark["side"], mark["text"]) == (-1, "launch 700.000 µs earlier")
    left, top = corner(seen)
    seen.page.mouse.click(left + mark["x"] + 3, top + mark["y"])
    assert seen.js("TV.names.text(TV.line.model.name(TV.line.state.chosen))") == "cudaLaunchKernel"
    assert seen.js("TV.line.model.start[TV.line.state.chosen]") == 100_000
    seen.js("TV.line.show(90000, 200000)")
    seen.js("TV.line.flush()")
    (mark,) = seen.js("TV.line.arrows.drawn.marks")
    assert (mark["side"], mark["item"]) == (1, far)
    assert mark["text"] == "record 700.000 µs after its launch"


def test_a_graph_has_an_arrow_to_each_of_its_first_records_only(visit: Visitor) -> None:
    graph = call("cudaGraphLaunch", 10, 5, 9)
    seen = visit(
        html=page_of(op("a", 0, 600), graph, *(kernel(f"k{i}", 30 + 10 * i, 8, 9) for i in range(50)))
    )
    show_all(seen)
    assert chosen(seen, "cudaGraphLaunch")["lines"] == seen.js("TV.line.links.MOST") == 24
    assert "50 records drawn as slices of their own (arrows to the first 24), the first: k0" in selected(seen)
    assert chosen(seen, "k49")["lines"] == 1


def test_a_launch_that_is_merged_still_has_its_arrow(visit: Visitor) -> None:
    seen = visit(html=page_of(*crowded(), budget=1_200))
    seen.js("TV.line.show(0, TV.line.model.span)")
    found = seen.js(
        """(() => {
          const m = TV.line.model, lane = m.lanes.find(l => l.device);
          for (let i = m.offset[lane.first]; i < m.offset[lane.first + lane.rows]; i++) {
            const ends = TV.line.links.ends(i);
            if (ends && ends.launch.item < 0 && ends.launch.lane >= 0) { TV.line.choose(i, false); TV.line.flush(); return TV.line.arrows.drawn.lines; }
          }
          return -1;
        })()"""
    )
    assert found == 1


def test_windows_can_be_gone_to_and_say_whether_they_are_exact(visit: Visitor) -> None:
    seen = visit(html=small_page(1_500))
    listed = seen.page.locator("#tv-timeline select option").all_inner_texts()
    assert listed[1] == "Step 4, of median length (every slice exact)"
    assert any(t.startswith("Finding: Waiting for data (") for t in listed)
    assert any(t.startswith("Idle gap in step ") for t in listed)
    windows = json.loads(seen.js("document.getElementById('tv-data').textContent"))["timeline"]["windows"]
    inside = seen.page.locator(".tl-inside")
    for number, window in enumerate(windows):
        seen.page.select_option("#tv-timeline select", str(number))
        assert seen.js(RANGE) == pytest.approx([window["start"], window["end"]], abs=1)
        if window["exact"]:
            text = "every slice drawn here is exact"
            seen.until(f"document.querySelector('.tl-inside').textContent.endsWith({json.dumps(text)})")
    show_all(seen)
    seen.until("/blocks of merged slices/.test(document.querySelector('.tl-inside').textContent)")
    assert inside.inner_text().startswith("45.8")


def test_the_list_of_windows_works_by_keyboard(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    seen.until("document.querySelector('#tv-timeline select').value === ''")
    seen.page.focus("#tv-timeline select")
    seen.page.keyboard.press("ArrowDown")
    assert width(seen) < seen.js("TV.line.model.span")
    first = seen.js(RANGE)
    seen.page.keyboard.press("ArrowDown")
    assert seen.js(RANGE) != first


def test_plus_and_minus_zoom(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    whole = width(seen)
    seen.page.keyboard.press("+")
    assert width(seen) == pytest.approx(0.6 * whole)
    seen.page.keyboard.press("-")
    assert width(seen) == pytest.approx(whole)


def test_a_question_mark_lists_every_key_and_escape_closes_it(visit: Visitor) -> None:
    seen = visit()
    seen.page.keyboard.press("?")
    dialog = seen.page.locator("dialog.tl-keys")
    assert dialog.is_visible()
    listed = dialog.locator("kbd").all_inner_texts()
    assert {
        "W",
        "A",
        "S",
        "D",
        "0",
        "F",
        "L",
        "M",
        "Enter",
        "Esc",
        "/",
        "?",
        "←",
        "→",
        "↑",
        "↓",
        "+",
        "−",
    } <= set(listed)
    before = seen.js(RANGE)
    seen.page.keyboard.press("/")
    assert seen.js("document.activeElement.tagName") != "INPUT"
    seen.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert seen.js(RANGE) == before
    seen.page.get_by_role("button", name="Keys").click()
    dialog.get_by_role("button", name="Close").click()
    assert not dialog.is_visible()


def test_the_panel_tells_arguments_and_copies_all(visit: Visitor) -> None:
    shape = {"grid": [8, 2, 1], "block": [128, 1, 1]}
    events = [
        op("aten::mm", 0, 50, **{"Input Dims": [[8, 4], [4, 2]]}),
        launch(10, 5, 1),
        kernel("k", 40, 20, 1, **shape),
    ]
    seen = visit(html=page_of(*events))
    chosen(seen, "k")
    assert "grid 8×2×1 · block 128×1×1" in selected(seen)
    chosen(seen, "aten::mm")
    assert "inputs [[8,4],[4,2]]" in selected(seen).replace(", ", ",")
    chosen(seen, "k")
    seen.js("TV.copy = (text) => { window.copied = text; }")
    seen.page.get_by_role("button", name="Copy all").click()
    lines = seen.js("copied").split("\n")
    assert lines[0] == "k"
    assert lines[1].startswith("20.000 µs at 40.000 µs")
    assert lines[2].startswith("Launched by cudaLaunchKernel in aten::mm")
    assert lines[-1] == "grid 8×2×1 · block 128×1×1"


def painted(seen: Visit) -> list[str]:
    """Return the texts left of the slices."""
    code = """(() => {
      const pen = CanvasRenderingContext2D.prototype, old = pen.fillText, texts = [];
      pen.fillText = function (t, x, y) { if (x === 8) texts.push(t); return old.call(this, t, x, y); };
      TV.line.flush(); pen.fillText = old; return texts;
    })()"""
    return list(seen.js(code))


@pytest.mark.parametrize("wide", [390, 1280])
def test_hidden_rows_queues_and_annotations_are_told_beside_their_lanes(visit: Visitor, wide: int) -> None:
    seen = visit(viewport={"width": wide, "height": 800})
    texts = painted(seen)
    assert [t for t in texts if "2 rows hidden" in t], texts
    assert [t for t in texts if "queue" in t]
    assert [t for t in texts if "annotations" in t]


def test_a_line_tells_its_depth_under_the_pointer(visit: Visitor) -> None:
    events = [launch(10, 1, 1), launch(12, 1, 2), kernel("a", 50, 5, 1), kernel("b", 90, 5, 2)]
    seen = visit(html=page_of(*events))
    show_all(seen)
    left, top = corner(seen)
    span, plot = 85, seen.js("document.querySelector('#tv-timeline canvas').clientWidth") - 200
    tip = seen.page.locator(".tl-tip")
    for time, depth in ((10, 2), (60, 1)):
        seen.page.mouse.move(left + 200 + plot * time / span, top + 122)
        assert tip.inner_text().startswith(f"{depth} waiting at ")


def test_collectives_are_hatched_not_only_coloured(visit: Visitor) -> None:
    """Count fills with a pattern instead of a colour."""
    count = """(() => {
      const pen = CanvasRenderingContext2D.prototype, old = pen.fillRect; let found = 0;
      pen.fillRect = function (...p) { if (typeof this.fillStyle !== "string") found++; return old.apply(this, p); };
      TV.line.flush(); pen.fillRect = old; return found;
    })()"""
    plain = visit(html=page_of(kernel("k", 0, 50)))
    assert plain.js(count) == 0
    seen = visit(html=page_of(kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", 0, 50)))
    assert seen.js(count) == 1


def test_steps_have_markers_with_their_numbers(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    texts = seen.js(
        """(() => {
          const pen = CanvasRenderingContext2D.prototype, old = pen.fillText, texts = [];
          pen.fillText = function (t, ...p) { texts.push(t); return old.call(this, t, ...p); };
          TV.line.flush(); pen.fillText = old; return texts.filter(t => t.startsWith("step "));
        })()"""
    )
    assert texts == [f"step {n}" for n in seen.js("TV.line.model.steps.map(s => s.number)")]


def test_a_dense_row_costs_pixels_not_slices_and_is_shaded_by_what_they_cover(visit: Visitor) -> None:
    """Draw 30,000 slices that cover half of a row: no rectangle each, and the colour a quarter and 3/4 of a half of theirs."""
    seen = visit(html=page_of(*(kernel("k", 2 * i, 1) for i in range(30_000))))
    show_all(seen)
    fills, row, back = seen.js(
        """(() => {
          const proto = CanvasRenderingContext2D.prototype, old = proto.fillRect; let fills = 0;
          proto.fillRect = function (...p) { fills++; return old.apply(this, p); };
          TV.line.flush(); proto.fillRect = old;
          const { width, data } = document.querySelector("#tv-timeline canvas").getContext("2d").getImageData(0, 83, 1000, 12);
          const at = (x, y) => [...data.slice(4 * (width * y + x), 4 * (width * y + x) + 3)];
          return [fills, [300, 500, 700, 900].map((x) => at(x, 0)), at(300, 11)];
        })()"""
    )
    assert fills < 50
    other = (0x8C, 0x95, 0x9F)  # the colour of a kernel of no category
    expected = [0.625 * c + 0.375 * b for c, b in zip(other, back, strict=True)]
    for found in row:
        assert found == pytest.approx(expected, abs=4)


def finger(seen: Visit, kind: str, *points: tuple[float, float]) -> None:
    """Touch as a screen would: through the browser, which may take a touch for scrolling."""
    touches = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
    seen.touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})  # type: ignore[attr-defined]


@pytest.fixture
def touched(visit: Visitor) -> Visit:
    seen = visit(viewport={"width": 390, "height": 800}, has_touch=True)
    seen.touch = seen.page.context.new_cdp_session(seen.page)  # type: ignore[attr-defined]
    seen.js("document.getElementById('tv-timeline').scrollIntoView()")
    seen.js("TV.line.show(0, TV.line.model.span / 2)")
    return seen


def test_one_finger_pans_sideways(touched: Visit) -> None:
    left, top = corner(touched)
    before, y = touched.js(RANGE), touched.js("scrollY")
    finger(touched, "touchStart", (left + 300, top + 200))
    for x in range(290, 190, -10):
        finger(touched, "touchMove", (left + x, top + 200))
    finger(touched, "touchEnd")
    touched.until(f"TV.line.state.range.from > {before[0]}")
    plot = touched.js("document.querySelector('#tv-timeline canvas').clientWidth") - 96
    assert touched.js(RANGE)[0] == pytest.approx((before[1] - before[0]) * 100 / plot, rel=0.15)
    assert width(touched) == pytest.approx(before[1] - before[0])
    assert touched.js("scrollY") == y


def test_one_finger_up_scrolls_the_page_and_does_not_pan(touched: Visit) -> None:
    left, top = corner(touched)
    before, y = touched.js(RANGE), touched.js("scrollY")
    finger(touched, "touchStart", (left + 250, top + 300))
    for step in range(290, 100, -10):
        finger(touched, "touchMove", (left + 250, top + step))
    finger(touched, "touchEnd")
    touched.until(f"scrollY > {y}")
    assert touched.js(RANGE) == before


def test_a_finger_that_scrolls_from_the_overview_does_not_jump_and_a_tap_does(touched: Visit) -> None:
    left, top = corner(touched)
    before, y = touched.js(RANGE), touched.js("scrollY")
    touched.js("scrollBy(0, -100)")
    top += 100
    finger(touched, "touchStart", (left + 350, top + 20))
    for step in range(15, -200, -10):
        finger(touched, "touchMove", (left + 350, top + step))
    finger(touched, "touchEnd")
    touched.until(f"scrollY > {y - 60}")
    assert touched.js(RANGE) == before
    touched.js(f"scrollTo(0, {y})")
    left, top = corner(touched)
    touched.page.touchscreen.tap(left + 350, top + 20)
    assert touched.js(RANGE)[0] > before[0]


def test_two_fingers_zoom_where_they_are(touched: Visit) -> None:
    left, top = corner(touched)
    before = touched.js(RANGE)
    at = f"(x => TV.line.state.range.from + (x - 96) / (document.querySelector('{CANVAS}').clientWidth - 96) * (TV.line.state.range.to - TV.line.state.range.from))(230)"
    under = touched.js(at)
    finger(touched, "touchStart", (left + 210, top + 200), (left + 250, top + 200))
    for step in range(1, 9):
        finger(touched, "touchMove", (left + 210 - 5 * step, top + 200), (left + 250 + 5 * step, top + 200))
    finger(touched, "touchEnd")
    touched.until(f"TV.line.state.range.to - TV.line.state.range.from < {0.5 * (before[1] - before[0])}")
    assert width(touched) == pytest.approx((before[1] - before[0]) * 40 / 120, rel=0.1)
    assert touched.js(at) == pytest.approx(under, abs=0.02 * width(touched))
    assert touched.js("visualViewport.scale") == 1


def test_a_tap_chooses_a_slice_and_taps_measure_after_the_button(touched: Visit) -> None:
    left, top = corner(touched)
    touched.js("TV.line.choose(0); TV.line.press('Enter'); TV.line.choose(-1)")
    touched.page.touchscreen.tap(left + 240, top + 84)
    assert touched.js("TV.line.state.chosen") == 0
    touched.page.get_by_role("button", name="Measure", exact=True).tap()
    for x in (150, 300):
        left, top = corner(touched)
        touched.page.touchscreen.tap(left + x, top + 120)
    assert "GPU 0 busy" in measured(touched)


def test_a_link_survives_another_build_of_the_page(visit: Visitor) -> None:
    seen = visit(html=small_page(150_000))
    show_all(seen)
    seen.page.keyboard.press("f")
    seen.js("TV.line.choose(TV.line.model.offset[TV.line.model.lanes.find(l => l.device).first] + 40, true)")
    seen.until("location.hash.includes('&s=')")
    told = "[TV.line.state.range, TV.names.text(TV.line.model.name(TV.line.state.chosen)), TV.line.model.start[TV.line.state.chosen]]"
    link, place = seen.js("location.hash"), seen.js(told)
    again = visit(html=small_page(1_500), link=link)  # other numbers of items, blocks elsewhere
    assert again.js("TV.line.model.items") < seen.js("TV.line.model.items")
    assert again.js("TV.line.state.chosen") >= 0
    found = again.js(told)
    assert found[1:] == place[1:]
    assert found[0]["from"] == pytest.approx(place[0]["from"], abs=1)


def test_a_link_to_a_slice_that_this_page_has_merged_leads_to_its_block(visit: Visitor) -> None:
    seen = visit(html=page_of(*crowded()))
    ops = "TV.line.model.lanes.find(l => l.label.startsWith('CPU') && !l.label.endsWith('annotations')).first"
    last = f"TV.line.model.offset[{ops} + 1] - 3"
    seen.js(f"TV.line.choose({last}, true)")
    seen.until("location.hash.includes('&s=')")
    start, row = seen.js(f"[TV.line.model.start[{last}], {ops}]")
    again = visit(html=page_of(*crowded(), budget=1_000), link=seen.js("location.hash"))
    chosen_item = again.js("TV.line.state.chosen")
    assert again.js(f"TV.line.model.block[{chosen_item}]") >= 0
    assert again.js(f"TV.line.model.rowOf({chosen_item})") == row
    begin, end = again.js(f"[TV.line.model.start[{chosen_item}], TV.line.model.end[{chosen_item}]]")
    assert begin <= start <= end


def test_the_next_slice_comes_into_sight_when_its_row_is_off_the_screen(visit: Visitor) -> None:
    seen = visit(viewport={"width": 1280, "height": 420})
    show_all(seen)
    seen.js("document.getElementById('timeline').scrollIntoView()")
    rows = seen.js("TV.line.model.offset.length - 1")
    for _ in range(rows):
        seen.page.keyboard.press("ArrowDown")
    top = seen.js("document.querySelector('#tv-timeline canvas').getBoundingClientRect().bottom")
    assert top < 420 + 120


def test_the_samples_page_survives_a_blocked_clipboard_and_no_request_is_made(
    visit: Visitor, tmp_path: Path
) -> None:
    seen = visit()
    show_all(seen)
    seen.page.keyboard.press("ArrowRight")
    seen.js(
        "Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('no')) } })"
    )
    seen.page.get_by_role("button", name="Copy name").click()
    seen.until("document.querySelector('.tl-selected').innerText.includes('Copied')")


def test_a_stretch_of_a_queue_with_several_depths_says_at_most_and_is_told_under_the_canvas(
    visit: Visitor,
) -> None:
    # every 10 us one launch; its kernel begins 3 us after: one waits for 3 us of each 10
    events = [e for i in range(4_000) for e in (launch(10 * i, 1, i + 1), kernel("k", 10 * i + 3, 4, i + 1))]
    seen = visit(html=page_of(*events))
    inside = "document.querySelector('.tl-inside').textContent"
    said = "TV.timelinePanel(TV.line.model, {}, TV.names, TV.line.links, document.createElement('div')).depth"
    lane = int(seen.js("TV.line.model.lines.findIndex(l => l)"))
    first = seen.js("TV.line.model.at(0)")
    text = str(seen.js(f"{said}({lane}, 10002000).short"))
    assert re.fullmatch(r"at most 1 waiting within this stretch \([\d.]+ µs from .*\)", text), (text, first)
    seen.js("TV.line.show(0, 50000)")
    seen.until(f"{inside}.includes('queues are estimates here')")
    middle = seen.js("document.querySelector('#tv-timeline select').options[1].textContent")
    assert "Middle eighth" in str(middle)
    seen.js("TV.line.press('f')")
    seen.until(f"{inside} && !{inside}.includes('queues')")
    at = 20_000_000 // 10_000 * 10_000
    assert str(seen.js(f"{said}({lane}, {at + 2_000}).short")).startswith("1 waiting at")
    assert str(seen.js(f"{said}({lane}, {at + 8_000}).short")).startswith("0 waiting at")


SCROLLED = "Math.abs(document.getElementById('timeline').getBoundingClientRect().top) < 120"
ON_CANVAS = "document.activeElement === document.querySelector('#tv-timeline canvas')"
ARRIVED = "document.querySelector('.tl-arrived').textContent"


def test_a_link_to_a_place_scrolls_to_the_timeline_at_once_and_when_it_is_pasted_later(
    visit: Visitor,
) -> None:
    seen = visit(GPU_SAMPLE, link="#t=1000000,2000000")
    seen.until(SCROLLED)
    assert seen.js(RANGE) == [1_000_000, 2_000_000]
    later = visit(GPU_SAMPLE)
    assert not later.js(SCROLLED)
    later.js("location.hash = '#t=3000000,4000000'")
    later.until(SCROLLED)
    assert later.js(RANGE) == [3_000_000, 4_000_000]
    assert later.js(ARRIVED).startswith("The timeline shows 1.000 ms from ")
    assert later.js(ON_CANVAS)


def test_what_leads_to_the_timeline_puts_the_focus_there_and_says_so(visit: Visitor) -> None:
    seen = visit(GPU_SAMPLE)
    button = seen.page.locator(".finding button[data-from]").first
    button.focus()
    seen.page.keyboard.press("Enter")
    assert seen.js(ON_CANVAS)
    assert seen.js(ARRIVED).startswith("The timeline shows ")
    wide = width(seen)
    seen.page.keyboard.press("w")
    assert width(seen) == pytest.approx(0.6 * wide)


def test_a_name_looked_for_from_a_table_comes_into_view(visit: Visitor) -> None:
    seen = visit(html=page_of(*(kernel("many", 10 * i, 5) for i in range(50)), kernel("lone", 900_000, 5)))
    seen.js("TV.line.show(0, 100000)")
    seen.js("TV.find('lone')")
    begin, end = seen.js(RANGE)
    assert begin <= 900_000_000 - 10_000 <= 900_005_000 + 10_000
    assert begin < 900_000_000 < end
    assert seen.js(ON_CANVAS)
    seen.js("TV.line.show(0, 100000)")
    seen.js("TV.find('many')")
    assert seen.js(RANGE) == [0, 100_000]  # several are in view already


def test_both_ends_of_what_is_measured_read_differently_however_long_the_trace(visit: Visitor) -> None:
    seen = visit(html=page_of(kernel("a", 0, 40), kernel("b", 30_000_000, 40)))
    seen.js("TV.line.measure.drag(10000, 24000, true)")
    assert measured(seen).startswith("14.000 µs from 0.00001 s to 0.00002 s")

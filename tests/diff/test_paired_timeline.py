"""The timeline of a comparison: lanes of both sides in pairs, aligned at a pair of moments, and at another one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.analyses import making
from tests.diff.runs import run, side
from tests.pages import Visit, Visitor
from tests.report.test_browser import CANVAS, RANGE, focus, selected, width
from tests.report.test_timeline import numbers
from tests.report.test_timeline_browser import PRESSED, item, measured, painted
from traceview.diff.compare import Diff, compare
from traceview.diff.saved import saved_side
from traceview.report.diff_pairs import WITHOUT_STEPS, pairs_of
from traceview.report.diff_timeline import PairedTimeline
from traceview.report.diff_view import build_diff
from traceview.report.html import render_html
from traceview.report.names import NameBook
from traceview.report.save import saved_document, saved_text
from traceview.report.view import ReportOptions, TimelineView

LATER = 300.0  # us by which all of the new run comes later, behind an operator at 0
WORK = [("aten::mm", "gemm", 100.0), ("aten::add", "add", 40.0)]


def later(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [making.op("warm-up", 0, 5), *({**e, "ts": e["ts"] + LATER} for e in events)]


def steps(number: int, factor: float = 1.0) -> list[list[tuple[str, str, float]]]:
    return [[(op, kernel, us * factor + i % 3) for op, kernel, us in WORK] for i in range(number)]


def aligned() -> Diff:
    return compare([side(run(steps(7)), "before")], [side(later(run(steps(7, 2.0))), "after")])


def view_of(diff: Diff, budget: int = 150_000) -> TimelineView:
    base, new = diff.base.analysis, diff.new.analysis
    assert base is not None
    assert new is not None
    view = PairedTimeline(base, new, pairs_of(diff, base, new)).view(NameBook(), budget)
    assert view is not None
    return view


def page(diff: Diff, budget: int = 150_000) -> str:
    return render_html(build_diff(diff, options=ReportOptions(timeline_budget=budget)))


def without_steps(gap: float) -> list[dict[str, Any]]:
    return [
        making.op("aten::mm", gap, 50), making.launch(gap + 5, 3, 1), making.kernel("gemm", gap + 20, 10, 1),
        making.launch(gap + 30, 3, 2), making.kernel("gemm", gap + 40, 10, 2),
    ]  # fmt: skip


def test_each_lane_stands_beside_its_like_of_the_other_side_streams_first() -> None:
    view = view_of(aligned())
    labels = [lane.label for lane in view.lanes]
    assert labels[0] == "base · GPU 0 · stream 7"
    assert labels.index("new · GPU 0 · stream 7") < labels.index("base · CPU · thread 4100 · annotations")
    sides = [label.split(" · ")[0] for label in labels if "queue" not in label]
    assert sides == ["base", "new"] * (len(sides) // 2)
    assert [lane.owner for lane in view.lanes if lane.device] == ["base · GPU 0", "new · GPU 0"]
    rows = [row for lane in view.lanes for row in range(lane.first, lane.first + lane.rows)]
    assert rows == list(range(len(view.layout["rows"])))


def test_lanes_of_other_names_are_paired_in_order_and_what_is_left_stands_alone() -> None:
    other = [{**e, "tid": 77} if e["pid"] == making.HOST else e for e in run(steps(7))]
    more = making.kernel("side", 5_500, 10, stream=9)
    view = view_of(compare([side(run(steps(7)))], [side([*other, more])]))
    labels = [lane.label for lane in view.lanes if lane.device or lane.label.endswith("4100")]
    assert labels == [
        "base · GPU 0 · stream 7", "new · GPU 0 · stream 7", "new · GPU 0 · stream 9", "base · CPU · thread 4100",
    ]  # fmt: skip
    at = [lane.label for lane in view.lanes].index("base · CPU · thread 4100")
    assert view.lanes[at + 1].label == "new · CPU · thread 77"


def test_steps_of_median_length_are_aligned_first_then_the_other_compared_steps() -> None:
    diff = aligned()
    view = view_of(diff)
    compared = diff.base.measured[True].steps
    assert len(compared) >= 4
    labels = [w.label for w in view.windows]
    assert labels[0].startswith("Median steps: ")
    assert set(labels[1:]) <= {f"Steps: {n} ↔ {n}" for n in compared}
    for label, (base, new) in zip(labels, view.layout["sides"]["pairs"], strict=True):
        first, second = (int(n) for n in label.rpartition(": ")[2].split(" ↔ "))
        assert base == first * 1_000_000  # ns from the first slice of each side
        assert new == second * 1_000_000 + LATER * 1_000
    window, pair = view.windows[0], view.layout["sides"]["pairs"][0]
    assert window.start == max(pair)
    assert window.end - window.start >= 1_000_000
    assert all(w.exact for w in view.windows)


def test_without_steps_the_first_device_records_are_aligned() -> None:
    diff = compare([side(without_steps(0.0))], [side([making.op("warm-up", 0, 5), *without_steps(100.0)])])
    view = view_of(diff)
    assert [w.label for w in view.windows] == [WITHOUT_STEPS]
    assert view.layout["sides"]["pairs"] == [[20_000, 120_000]]


def test_times_names_and_launches_of_each_side_are_those_of_its_own_page() -> None:
    """Hold every item of both sides, found by lane, against the timeline of each trace alone."""
    from traceview.report.timeline import Timeline

    diff = aligned()
    names = NameBook()
    base, new = diff.base.analysis, diff.new.analysis
    assert base is not None
    assert new is not None
    both = PairedTimeline(base, new, pairs_of(diff, base, new)).view(names, 150_000)
    assert both is not None
    texts = names.uncut().texts
    for name, analysis in (("base", base), ("new", new)):
        own_names = NameBook()
        alone = Timeline(analysis).view(own_names, 150_000)
        assert alone is not None
        expected = slices(alone, own_names.uncut().texts, "")
        found = slices(both, texts, f"{name} · ")
        assert found == expected
        assert queues(both, f"{name} · ") == queues(alone, "")
        assert queues(alone, "")


def queues(view: TimelineView, side_of: str) -> dict[str, list[tuple[int, int]]]:
    """Return (time, depth) of all points of each line."""
    gap, depth = numbers(view, "line_gap"), numbers(view, "line_depth")
    found = {}
    for lane in view.lanes:
        if lane.points and lane.label.startswith(side_of):
            first, number = lane.points
            own = range(first, first + number)
            found[lane.label.removeprefix(side_of)] = [(sum(gap[first : i + 1]), depth[i]) for i in own]
    return found


def slices(view: TimelineView, texts: tuple[str, ...], side_of: str) -> dict[str, list[Any]]:
    """Return by lane: (start, length, name, call that launched it, its operator and lane, correlation) of all slices."""
    gap, length, entry = (numbers(view, key) for key in ("gap", "length", "entry"))
    entry_name = numbers(view, "entry_name")
    call, op, lane_of = (numbers(view, f"origin_{key}") for key in ("call", "op", "lane"))
    records = list(
        zip(*(numbers(view, key) for key in ("origin", "latency", "delay", "launched")), strict=True)
    )
    lanes = {r: lane for lane in view.lanes for r in range(lane.first, lane.first + lane.rows)}
    found: dict[str, list[Any]] = {}
    record, correlation, i = 0, 0, 0
    for row, number in enumerate(view.layout["rows"]):
        at = 0
        for _ in range(number):
            at += gap[i]
            told: list[Any] = [at, length[i], texts[entry_name[entry[i]]]]
            at += length[i]
            i += 1
            if lanes[row].device:
                origin, latency, delay, step = records[record]
                record += 1
                if step:
                    correlation += -(step // 2) if (step - 1) % 2 else (step - 1) // 2
                if origin:
                    lane = view.lanes[lane_of[origin - 1] - 1].label
                    assert not side_of or lane.split(" ")[0] == lanes[row].label.split(" ")[0]
                    told += [texts[call[origin - 1]], texts[op[origin - 1] - 1], latency, delay]
                    told += [lane.removeprefix(side_of), correlation if step else None]
            label = lanes[row].label
            if label.startswith(side_of):
                found.setdefault(f"{label.removeprefix(side_of)} {row - lanes[row].first}", []).append(told)
    return found


def test_the_budget_is_shared_and_what_one_side_does_not_need_goes_to_the_other() -> None:
    few, many = side(run(steps(7))), side(run([WORK * 12] * 60))
    view = view_of(compare([few], [many]), 600)
    assert view.layout["items"] <= 600
    merged = numbers(view, "number")
    assert merged
    base = [lane for lane in view.lanes if lane.label.startswith("base · ") and lane.rows]
    drawn = sum(view.layout["rows"][r] for lane in base for r in range(lane.first, lane.first + lane.rows))
    assert drawn == sum(
        len(s) for s in slices(view_of(compare([few], [few])), ("",) * 99, "base · ").values()
    )


def test_a_saved_run_has_no_timeline_and_the_page_says_so(tmp_path: Any) -> None:
    new = side(run(steps(7)))
    assert new.analysis is not None
    path = tmp_path / "saved.json"
    path.write_text(saved_text(saved_document(new.analysis)), encoding="ascii")
    report = build_diff(compare([saved_side(str(path), "saved")], [new]))
    section = next(s for s in report.sections if s.id == "timeline")
    assert section.empty.startswith("A saved run keeps no slices")
    assert not section.blocks


def starts(seen: Visit, name: str) -> list[float]:
    """Return where slices of a name start, from the aligned moment, in us, base first."""
    code = f"""[...Array(TV.line.model.items).keys()].filter(i => TV.names.text(TV.line.model.name(i)) === {json.dumps(name)})
      .map(i => [TV.line.model.lanes[TV.line.model.laneOf[TV.line.model.rowOf(i)]].label.split(" ")[0], (TV.line.model.start[i] - TV.line.model.anchor) / 1000])"""
    return [at for _, at in sorted(seen.js(code))]


def test_the_median_steps_begin_at_the_same_place_and_are_in_view(visit: Visitor) -> None:
    diff = aligned()
    seen = visit(html=page(diff))
    label = seen.page.locator("#tv-timeline select option:checked").inner_text()
    base, new = label.split(" (")[0].removeprefix("Median steps: ").split(" ↔ ")
    assert starts(seen, f"ProfilerStep#{base}")[0] == 0
    assert starts(seen, f"ProfilerStep#{new}")[-1] == 0
    assert seen.js(f"({RANGE})[0] === TV.line.model.anchor")
    assert "in view, from 0.000" in seen.page.locator(".tl-inside").inner_text()


def test_go_to_aligns_another_pair_and_the_link_leads_back_to_it(visit: Visitor) -> None:
    diff = compare([side(run(steps(7)))], [side(later(run(steps(9))))])
    seen = visit(html=page(diff))
    seen.page.locator("#tv-timeline select").select_option(index=3)
    label = seen.page.locator("#tv-timeline select option").nth(3).inner_text()
    base, new = label.split(" (")[0].removeprefix("Steps: ").split(" ↔ ")
    assert starts(seen, f"ProfilerStep#{base}")[0] == 0
    assert starts(seen, f"ProfilerStep#{new}")[-1] == 0
    seen.js(f"TV.line.choose({item(seen, f'ProfilerStep#{new}')}, false)")
    seen.until("location.hash.includes('&p=2') && location.hash.includes('&s=')")
    again = visit(html=page(diff), link=seen.js("location.hash"))
    assert again.js("TV.line.model.pair") == 2
    assert again.js(RANGE) == seen.js(RANGE)
    assert again.js("TV.line.state.chosen") == seen.js("TV.line.state.chosen")
    focus(again)
    again.page.keyboard.press("f")
    assert again.js("TV.line.model.pair") == 0


def test_a_chosen_slice_tells_its_side_and_its_time_from_the_aligned_moment(visit: Visitor) -> None:
    seen = visit(html=page(aligned()))
    base, new = (
        seen.js(f"TV.line.model.lanes.findIndex(l => l.device && l.label.startsWith('{s}'))")
        for s in ("base", "new")
    )
    for lane, name in ((base, "base · GPU 0 · stream 7"), (new, "new · GPU 0 · stream 7")):
        first = seen.js(
            f"TV.line.model.search(TV.line.model.offset[TV.line.model.lanes[{lane}].first], TV.line.model.offset[TV.line.model.lanes[{lane}].first + 1], TV.line.model.anchor)"
        )
        seen.js(f"TV.line.choose({first}, true)")
        assert name in selected(seen)
        assert "at 0.020 ms" in selected(seen)
        assert "Launched by cudaLaunchKernel in aten::mm" in selected(seen)
        focus(seen)
        seen.page.keyboard.press("l")
        assert name.split(" ")[0] + " · CPU" in selected(seen)
        seen.page.keyboard.press("l")
        assert name in selected(seen)


def test_launches_are_followed_after_another_alignment_too(visit: Visitor) -> None:
    seen = visit(html=page(aligned()))
    gemm = item(seen, "gemm", 9)  # of the second side
    seen.js(f"TV.line.choose({gemm}, true)")
    focus(seen)
    seen.page.keyboard.press("l")
    seen.page.locator("#tv-timeline select").select_option(index=4)
    focus(seen)
    seen.page.keyboard.press("l")
    assert seen.js("TV.line.state.chosen") == gemm


def test_arrows_walk_from_one_side_to_the_other(visit: Visitor) -> None:
    seen = visit(html=page(aligned()))
    focus(seen)
    seen.page.keyboard.press("ArrowRight")
    assert "base · GPU 0 · stream 7" in selected(seen)
    seen.page.keyboard.press("ArrowDown")
    assert "new · GPU 0 · stream 7" in selected(seen)
    seen.page.keyboard.press("0")
    assert width(seen) == seen.js("TV.line.model.span")
    assert seen.js("TV.line.model.span") == 7_000_000 + LATER * 1_000


def test_the_devices_of_both_sides_are_measured(visit: Visitor) -> None:
    seen = visit(html=page(aligned()))
    seen.js("TV.line.measure.drag(TV.line.model.anchor, TV.line.model.anchor + 1e6, true)")
    text = measured(seen)
    assert text.startswith("1.000 ms from 0.000")
    assert "base · GPU 0 busy 14" in text
    assert "new · GPU 0 busy 28" in text
    seen.page.locator("#tv-timeline select").select_option(index=2)
    assert measured(seen) == ""
    assert seen.js(PRESSED) == "false"


def test_a_row_of_work_is_found_in_the_timeline_on_both_sides(visit: Visitor) -> None:
    seen = visit(html=page(aligned()))
    cell = seen.page.locator("[data-table=work] td.name").filter(has_text="aten::mm")
    cell.get_by_role("button").first.click()
    cell.get_by_role("button", name="Find in timeline").click()
    assert seen.page.locator("#tv-timeline .tools [aria-live]").inner_text() == "14 slices match"
    assert seen.page.input_value("#tv-timeline input[type=search]") == "aten::mm"


def test_the_numbers_of_steps_say_whose_they_are(visit: Visitor) -> None:
    seen = visit(html=page(aligned()))
    texts = seen.js(
        """(() => {
          const pen = CanvasRenderingContext2D.prototype, old = pen.fillText, texts = [];
          pen.fillText = function (t, ...p) { texts.push(t); return old.call(this, t, ...p); };
          TV.line.flush(); pen.fillText = old; return texts.filter(t => t.includes("step "));
        })()"""
    )
    assert {t.split(" ")[0] for t in texts} == {"base", "new"}


@pytest.mark.parametrize("wide", [390, 1280])
def test_merged_slices_are_shaded_only_where_the_aligned_pair_is_exact(visit: Visitor, wide: int) -> None:
    many = side(run([WORK * 12] * 30))
    seen = visit(html=page(compare([many], [many]), 900), viewport={"width": wide, "height": 800})
    assert seen.js("TV.line.model.number.length") > 0
    assert seen.js(f"document.querySelector('{CANVAS}').clientWidth") <= wide
    focus(seen)
    seen.page.keyboard.press("0")
    seen.page.keyboard.press("f")
    assert "every slice drawn here is exact" in seen.page.locator(".tl-inside").inner_text()


def test_every_lane_names_its_side_on_a_phone_too(visit: Visitor) -> None:
    seen = visit(html=page(aligned()), viewport={"width": 390, "height": 800})
    texts = [t for t in painted(seen) if t.startswith(("base", "new"))]
    assert len(texts) == seen.js("TV.line.model.lanes.length")
    assert {"base GPU 0", "new GPU 0", "base CPU", "new CPU"} == set(texts)


def test_a_budget_of_nothing_still_shows_a_block_a_row() -> None:
    many = side(run([WORK * 12] * 30))
    view = view_of(compare([many], [many]), 0)
    assert view.layout["items"] >= len(view.layout["rows"])
    assert not any(w.exact for w in view.windows)

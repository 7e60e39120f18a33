"""The page in a browser: every control works, nothing is requested, hostile names do nothing."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.analyses.making import analysed, kernel
from tests.pages import CPU_SAMPLE, GPU_SAMPLE, HOSTILE, Visit, Visitor, html_of
from tests.report.test_html import EVIL, evil_trace
from tests.report.test_timeline import wide_trace
from traceview.analyses import analyze
from traceview.report import build_report, render_html
from traceview.sources import read_trace

CANVAS = "#tv-timeline canvas"
RANGE = "[TV.line.state.range.from, TV.line.state.range.to]"


def focus(seen: Visit) -> None:
    seen.page.focus(CANVAS)


def width(seen: Visit) -> float:
    begin, end = seen.js(RANGE)
    return float(end - begin)


def show_all(seen: Visit) -> None:
    focus(seen)
    seen.page.keyboard.press("0")


def first_rows(seen: Visit, table: str) -> list[str]:
    """Return the text of the first column of a table, top to bottom."""
    code = f"[...document.querySelectorAll('[data-table={table}] tbody tr')].map(r => r.cells[0].textContent)"
    return [str(t) for t in seen.js(code)]


@pytest.mark.parametrize("sample", [GPU_SAMPLE, CPU_SAMPLE, HOSTILE])
def test_a_page_opens_without_complaint_or_request(visit: Visitor, sample: str) -> None:
    seen = visit(sample)
    assert seen.js("TV.line.model.items") > 0
    seen.js("TV.drawAll()")


def test_every_item_is_decoded_as_it_was_encoded(visit: Visitor) -> None:
    seen = visit()
    assert seen.js("TV.line.model.end.every((e, i) => e >= TV.line.model.start[i])")
    data = json.loads(seen.js("document.getElementById('tv-data').textContent"))["timeline"]
    assert seen.js("TV.line.model.items") == data["layout"]["items"]
    assert seen.js("TV.line.model.offset.length - 1") == len(data["layout"]["rows"])


def test_keys_zoom_pan_and_show_all(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    whole = width(seen)
    assert whole == seen.js("TV.line.model.span")
    seen.page.keyboard.press("w")
    assert width(seen) == pytest.approx(0.6 * whole)
    before = seen.js(RANGE)
    seen.page.keyboard.press("d")
    assert seen.js(RANGE)[0] > before[0]
    seen.page.keyboard.press("a")
    assert seen.js(RANGE)[0] == pytest.approx(before[0])
    seen.page.keyboard.press("s")
    assert width(seen) == pytest.approx(whole)
    seen.page.keyboard.press("f")
    assert width(seen) < whole


def test_arrows_walk_over_slices_and_enter_zooms_to_one(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    seen.page.keyboard.press("ArrowRight")
    first = seen.js("TV.line.state.chosen")
    seen.page.keyboard.press("ArrowRight")
    assert seen.js("TV.line.state.chosen") == first + 1
    seen.page.keyboard.press("ArrowLeft")
    assert seen.js("TV.line.state.chosen") == first
    row = seen.js("TV.line.model.rowOf(TV.line.state.chosen)")
    seen.page.keyboard.press("ArrowDown")
    assert seen.js("TV.line.model.rowOf(TV.line.state.chosen)") == row + 1
    shown = seen.js("document.querySelector('.tl-selected code').textContent")
    assert shown == seen.js("TV.line.model.name(TV.line.state.chosen)") or len(shown) > 0
    seen.page.keyboard.press("Enter")
    assert width(seen) < seen.js("TV.line.model.span")
    seen.page.keyboard.press("Escape")
    assert seen.js("TV.line.state.chosen") == -1


def test_a_plain_wheel_scrolls_the_page_and_ctrl_wheel_zooms_at_the_pointer(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    seen.page.locator(CANVAS).scroll_into_view_if_needed()
    box = seen.page.locator(CANVAS).bounding_box()
    assert box is not None
    seen.page.mouse.move(box["x"] + 700, box["y"] + 100)
    whole, top = width(seen), seen.js("scrollY")
    seen.page.mouse.wheel(0, 120)
    seen.until(f"scrollY !== {top}")
    assert width(seen) == whole
    seen.page.keyboard.down("Control")
    seen.page.mouse.wheel(0, -400)
    seen.page.keyboard.up("Control")
    seen.until(f"TV.line.state.range.to - TV.line.state.range.from < {whole}")


def test_the_pointer_pans_selects_zooms_to_a_range_and_jumps(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    seen.page.locator(CANVAS).scroll_into_view_if_needed()
    box = seen.page.locator(CANVAS).bounding_box()
    assert box is not None
    left, top = box["x"], box["y"]

    def drag(y: float, begin: float, end: float) -> None:
        seen.page.mouse.move(left + begin, top + y)
        seen.page.mouse.down()
        seen.page.mouse.move(left + end, top + y, steps=4)
        seen.page.mouse.up()

    whole = width(seen)
    drag(58, 400, 700)  # the ruler
    assert 0 < width(seen) < whole
    before = seen.js(RANGE)
    drag(200, 700, 500)
    assert seen.js(RANGE)[0] > before[0]
    seen.page.mouse.move(left + 300, top + 20)  # the small overview
    seen.page.mouse.down()
    seen.page.mouse.up()
    assert seen.js(RANGE)[0] < before[0]
    item = seen.js(
        "(() => { TV.line.show(0, TV.line.model.span); TV.line.choose(0); TV.line.press('Enter'); TV.line.choose(-1); return 0; })()"
    )
    seen.page.mouse.move(left + 700, top + 84)
    seen.page.mouse.down()
    seen.page.mouse.up()
    assert seen.js("TV.line.state.chosen") == item
    assert seen.js("document.querySelector('.tl-tip').hidden") is False


def test_find_counts_matches_and_dims_the_rest(visit: Visitor) -> None:
    seen = visit()
    focus(seen)
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("nccl")
    text = seen.page.locator("#tv-timeline .tools span").first.inner_text()
    assert re.match(r"[\d,]+ slices.* match", text)
    seen.page.keyboard.press("Enter")
    assert "nccl" in seen.js("document.querySelector('.tl-selected code').textContent").lower()


def test_a_link_to_a_place_leads_back_to_it(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    for key in ("w", "w", "d", "ArrowRight"):
        seen.page.keyboard.press(key)
    seen.until("location.hash.includes('&s=')")
    link, place, chosen = seen.js("location.hash"), seen.js(RANGE), seen.js("TV.line.state.chosen")
    again = visit(link=link)
    assert again.js(RANGE) == pytest.approx(place, abs=1)
    assert again.js("TV.line.state.chosen") == chosen


def test_a_click_on_a_head_sorts_and_a_second_click_turns_round(visit: Visitor) -> None:
    seen = visit()
    head = seen.page.locator("[data-table=kernels] th button").nth(2)
    head.click()
    cells = "[...document.querySelectorAll('[data-table=kernels] tbody tr')].map(r => +r.cells[2].textContent.replace(/,/g, ''))"
    down = seen.js(cells)
    assert down == sorted(down, reverse=True)
    assert seen.js("document.querySelectorAll('[data-table=kernels] th')[2].ariaSort") == "descending"
    head.click()
    up = seen.js(cells)
    assert up == sorted(up)


def test_a_filter_takes_words_and_expressions(visit: Visitor) -> None:
    seen = visit()
    box = seen.page.locator("[data-table=operators] input[type=search]")
    everything = len(first_rows(seen, "operators"))
    box.fill("aten mm")
    seen.until(f"document.querySelectorAll('[data-table=operators] tbody tr').length < {everything}")
    assert all("aten" in n.lower() and "mm" in n.lower() for n in first_rows(seen, "operators"))
    box.fill("/^aten::a/")
    seen.until(
        "[...document.querySelectorAll('[data-table=operators] tbody tr')].every(r => r.cells[0].textContent.startsWith('aten::a'))"
    )
    box.fill("no such operator")
    seen.until("document.querySelector('[data-table=operators] td.nothing') !== null")


def test_a_name_opens_to_its_full_text_and_leads_to_the_timeline(visit: Visitor) -> None:
    seen = visit()
    seen.page.locator("[data-table=kernels] td.name button").first.click()
    full = seen.page.locator("[data-table=kernels] .more code").first.inner_text()
    assert full
    seen.page.get_by_text("Find in timeline").first.click()
    assert seen.js("document.querySelector('#tv-timeline input').value") == full


def test_a_copied_table_cannot_run_as_a_formula(visit: Visitor) -> None:
    seen = visit(HOSTILE)
    text = seen.js("TV.tables.kernels.asCsv()")
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(r) for r in rows}) == 1
    assert not [
        c for r in rows for c in r if c[:1] in ("=", "+", "@", "-", "\t", "\r") and not c[1:2].isdigit()
    ]
    assert any(c.startswith("'=HYPERLINK") for r in rows for c in r)


def test_hostile_names_do_nothing(visit: Visitor, tmp_path: Path) -> None:
    path = evil_trace(tmp_path / "evil.json")
    seen = visit(html=render_html(build_report(analyze(read_trace(path)))))
    seen.js("TV.drawAll()")
    for name in EVIL:
        seen.js(f"TV.line.find({json.dumps(name)})")
    show_all(seen)
    seen.page.keyboard.press("ArrowRight")
    for button in seen.page.locator("td.name > button").all():
        button.click()
    seen.until("document.querySelectorAll('.plot svg').length > 0")
    assert (
        seen.js(
            "document.querySelectorAll('img, iframe, a[href^=javascript], main a:not([href^=\"#\"])').length"
        )
        == 0
    )


def test_the_theme_follows_the_system_can_be_switched_and_is_kept(visit: Visitor) -> None:
    seen = visit(color_scheme="dark")
    theme = "document.documentElement.dataset.theme"
    assert seen.js(theme) == "dark"
    seen.page.click("#tv-theme")
    assert seen.js(theme) == "light"
    seen.page.reload()
    seen.until("window.TV_READY === true")
    assert seen.js(theme) == "light"


def test_a_dark_page_prints_light_and_turns_dark_again(visit: Visitor) -> None:
    seen = visit(color_scheme="dark")
    seen.js("dispatchEvent(new Event('beforeprint'))")
    assert seen.js("document.documentElement.dataset.theme") == "light"
    seen.js("dispatchEvent(new Event('afterprint'))")
    assert seen.js("document.documentElement.dataset.theme") == "dark"
    assert seen.page.pdf()[:5] == b"%PDF-"


def test_paper_says_how_many_rows_are_missing_and_scales_the_charts(visit: Visitor) -> None:
    seen = visit()
    rows = len(first_rows(seen, "operators"))
    all_rows = seen.js(
        "JSON.parse(document.getElementById('tv-data').textContent).tables.find(t => t.id === 'operators').rows.length"
    )
    seen.page.emulate_media(media="print")
    seen.js("dispatchEvent(new Event('beforeprint'))")
    note = seen.page.locator("[data-table=operators] .printed")
    if rows < all_rows:
        assert note.inner_text() == f"{rows} of {all_rows} operators shown."
    else:
        assert not note.is_visible()
    card, drawing = (seen.page.locator(s).first.bounding_box() for s in (".chart .plot", ".chart .main-svg"))
    assert card is not None
    assert drawing is not None
    assert drawing["width"] == pytest.approx(card["width"], abs=2)
    assert (
        not seen.page.locator("th button").first.is_visible()
        or seen.js("getComputedStyle(document.querySelector('th button')).display") == "contents"
    )
    seen.js("dispatchEvent(new Event('afterprint'))")
    assert seen.js("document.querySelector('.main-svg').getAttribute('viewBox')") is None


def test_paper_counts_the_rows_of_a_long_table(visit: Visitor, tmp_path: Path) -> None:
    events = [kernel(f"kernel_{i}", 1 + 10 * i, 5) for i in range(40)]
    seen = visit(html=render_html(build_report(analysed(*events))))
    note = seen.page.locator("[data-table=kernels] .printed")
    assert not note.is_visible()
    seen.page.emulate_media(media="print")
    assert note.inner_text() == "25 of 40 kernels shown."


def test_a_phone_names_every_track_in_two_lines(visit: Visitor) -> None:
    """Read what the painter writes left of the slices."""
    seen = visit(viewport={"width": 390, "height": 800})
    written = seen.js(
        """(() => {
          const pen = CanvasRenderingContext2D.prototype, old = pen.fillText, texts = [];
          pen.fillText = function (t, x, y) { if (x === 8) texts.push(t); return old.call(this, t, x, y); };
          TV.line.flush(); pen.fillText = old; return texts;
        })()"""
    )
    for text in ("GPU 0", "stream 7", "CPU", "CPU Python"):
        assert text in written
    assert [t for t in written if t.startswith("thread 4021")]
    assert not [t for t in written if re.search(r"\d…$", t)]  # no number is cut


@pytest.mark.parametrize("wide", [390, 768, 1280, 1600])
def test_no_width_needs_sideways_scrolling(visit: Visitor, wide: int) -> None:
    seen = visit(viewport={"width": wide, "height": 800})
    seen.js("TV.drawAll()")
    assert seen.js("document.documentElement.scrollWidth") <= wide
    assert seen.js("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("wide", [1280, 1600])
def test_on_a_desk_neither_a_table_nor_the_bar_at_the_top_scrolls_sideways(visit: Visitor, wide: int) -> None:
    seen = visit(viewport={"width": wide, "height": 800})
    assert "collectives" in seen.js("Object.keys(TV.tables)")
    broad = """[...document.querySelectorAll(".top nav, [data-table] .scroll")]
        .filter(e => e.scrollWidth > e.clientWidth).map(e => e.getAttribute("aria-label"))"""
    assert seen.js(broad) == []


@pytest.mark.parametrize("wide", [390, 768, 1280])
def test_the_bar_at_the_top_hides_no_heading_that_was_asked_for(visit: Visitor, wide: int) -> None:
    seen = visit(viewport={"width": wide, "height": 800})
    seen.page.click(".top nav a[href='#gaps']")
    top = seen.js("document.getElementById('h-gaps').getBoundingClientRect().top")
    assert top >= seen.js("document.querySelector('.top').getBoundingClientRect().bottom")


def test_the_timeline_follows_the_width_of_the_window(visit: Visitor) -> None:
    seen = visit()
    seen.page.set_viewport_size({"width": 700, "height": 800})
    seen.until(f"document.querySelector('{CANVAS}').clientWidth < 700")


def test_without_scripts_the_numbers_can_be_read(visit: Visitor) -> None:
    seen = visit(java_script_enabled=False)
    assert seen.page.locator(".kpi").first.is_visible()
    assert seen.page.locator("[data-table=kernels] tbody tr").first.is_visible()


def test_with_scripts_blocked_by_policy_the_numbers_can_be_read(browser: object, tmp_path: Path) -> None:
    blocked = re.sub(r"script-src [^;]*;", "script-src 'none';", html_of(GPU_SAMPLE), count=1)
    path = tmp_path / "blocked.html"
    path.write_text(blocked, encoding="utf-8")
    page = browser.new_page()  # type: ignore[attr-defined]
    page.goto(f"file://{path}")
    assert page.locator(".kpi").first.is_visible()
    assert page.locator("[data-table=kernels] tbody tr").count() >= 5
    page.close()


def test_a_page_is_ready_within_a_second_on_a_quiet_machine(visit: Visitor) -> None:
    seen = visit()
    ready = seen.js("performance.getEntriesByName('tv-ready')[0].startTime")
    draw = seen.js("(() => { TV.line.show(0, TV.line.model.span); TV.line.flush(); return TV.line.last; })()")
    print(f"ready {ready:.0f} ms, draw {draw:.1f} ms")
    assert ready < 5_000  # five times over, because machines of a CI are not quiet


RECORD = "TV.line.model.lanes.find(l => l.device).first"


def choose_first_record(seen: Visit) -> None:
    show_all(seen)
    seen.js(f"TV.line.choose(TV.line.model.offset[{RECORD}] + 20, true)")


def selected(seen: Visit) -> str:
    return str(seen.page.locator(".tl-selected").inner_text())


def test_a_record_says_who_launched_it_and_leads_there_and_back(visit: Visitor) -> None:
    seen = visit()
    choose_first_record(seen)
    text = selected(seen)
    assert re.search(r"Launched by \w+ in \S+.* on ", text)
    assert re.search(r"launch latency .* queue delay .* start delay", text)
    assert "correlation " in text
    record = seen.js("TV.line.state.chosen")
    seen.page.get_by_role("button", name="Go to launch").click()
    call = seen.js("TV.line.state.chosen")
    assert call != record
    assert "aunch" in seen.js("document.querySelector('.tl-selected code').textContent")
    assert "Go to first record" in selected(seen)
    seen.page.keyboard.press("l")
    assert seen.js("TV.line.state.chosen") == record
    begin, end = seen.js(RANGE)
    assert begin <= seen.js(f"TV.line.model.start[{record}]") <= end


def test_every_launch_drawn_starts_before_its_record_as_the_latency_says(visit: Visitor) -> None:
    seen = visit()
    seen.js("TV.line.choose(0, false)")
    wrong = seen.js(
        """(() => {
          const m = TV.line.model; let wrong = 0, seen = 0;
          for (const lane of m.lanes) if (lane.device) for (let i = m.offset[lane.first]; i < m.offset[lane.first + lane.rows]; i++) {
            const found = TV.line.links.about(i);
            if (!found || found.target < 0) continue;
            seen++;
            const back = TV.line.links.about(found.target);
            if (!back || m.start[back.target] > m.start[i] || m.start[found.target] > m.start[i] + 1e6) wrong++;
          }
          return seen ? wrong : -1;
        })()"""
    )
    assert wrong == 0


def test_an_operator_and_a_block_have_no_link(visit: Visitor) -> None:
    seen = visit()
    host = "TV.line.model.lanes.findIndex(l => l.label.startsWith('CPU'))"
    seen.js(f"TV.line.choose(TV.line.model.offset[TV.line.model.lanes[{host}].first], false)")
    assert "Go to" not in selected(seen)
    assert seen.js("TV.line.links.about(-1)") is None


def test_find_walks_over_the_matches_and_shows_them(visit: Visitor) -> None:
    seen = visit()
    show_all(seen)
    whole = width(seen)
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("nccl")
    said = seen.page.locator("#tv-timeline .tools span").first
    seen.page.keyboard.press("Enter")
    assert re.fullmatch(r"1 of [\d,]+", said.inner_text())
    assert width(seen) < whole
    begin, end = seen.js(RANGE)
    chosen = seen.js("TV.line.state.chosen")
    assert begin <= seen.js(f"TV.line.model.start[{chosen}]") <= end
    seen.page.keyboard.press("Enter")
    assert said.inner_text().startswith("2 of ")
    seen.page.keyboard.press("Shift+Enter")
    assert said.inner_text().startswith("1 of ")
    assert seen.js("TV.line.state.chosen") == chosen


def test_slash_finds_from_anywhere_but_not_while_typing(visit: Visitor) -> None:
    seen = visit()
    box = seen.page.locator("#tv-timeline input")
    seen.page.keyboard.press("/")
    assert box.evaluate("e => e === document.activeElement")
    other = seen.page.locator("[data-table=operators] input[type=search]")
    other.focus()
    seen.page.keyboard.press("/")
    assert other.input_value() == "/"


def test_an_expression_that_cannot_be_read_is_said_to_be_invalid(visit: Visitor) -> None:
    seen = visit()
    box = seen.page.locator("[data-table=operators] input[type=search]")
    box.fill("/(/")
    seen.until(
        "document.querySelector('[data-table=operators] .tools span').textContent === 'invalid expression'"
    )
    assert box.get_attribute("aria-invalid") == "true"
    box.fill("/aten/")
    seen.until(
        "document.querySelector('[data-table=operators] input').getAttribute('aria-invalid') === 'false'"
    )


def test_the_overview_spans_the_whole_trace(visit: Visitor) -> None:
    seen = visit()
    trace = analyze(read_trace(Path(GPU_SAMPLE))).trace
    assert seen.js("TV.line.model.span") == trace.span_ns


def test_links_hold_in_a_trace_of_many_years(visit: Visitor, tmp_path: Path) -> None:
    seen = visit(html=render_html(build_report(analyze(wide_trace(tmp_path / "t.json")))))
    show_all(seen)
    seen.js(f"TV.line.choose(TV.line.model.offset[{RECORD}] + 7, true)")
    record = seen.js("TV.line.state.chosen")
    assert "launch latency 19." in selected(seen)
    seen.page.keyboard.press("l")
    assert "cudaLaunchKernel" in selected(seen)
    seen.page.keyboard.press("l")
    assert seen.js("TV.line.state.chosen") == record
    for _ in range(60):
        seen.page.keyboard.press("w")
    seen.js("TV.line.flush()")
    assert width(seen) == 50 * seen.js("TV.line.model.unit")
    seen.until("location.hash.includes('&s=')")
    link = seen.js("location.hash")
    again = visit(html=render_html(build_report(analyze(read_trace(tmp_path / "t.json")))), link=link)
    assert again.js("TV.line.state.chosen") == record
    assert again.js("location.hash") == link

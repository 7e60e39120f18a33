/* traceview timeline: the view, its tools and keys, links to places; puts together the other timeline-*.js.
   Exposes TV.timeline(root, view, columns, names). */
(function () {
  "use strict";
  const LINK = /^#t=(\d+),(\d+)(?:&p=(\d+))?(?:&s=(\d+),(\d+))?$/;
  const CLOSEST = 50; // units: the closest zoom
  const KEYS = [
    [["W", "+"], "zoom in"], [["S", "−"], "zoom out"], [["A", "D"], "pan"], [["0"], "show the whole trace"], [["F"], "show the step of median length, without steps the middle eighth of the device's time; of two traces the first aligned pair"],
    [["←", "→"], "the slice before, the next one; after a search the next match of the row"], [["↑", "↓"], "the row above, below"], [["Enter"], "zoom to the chosen slice"],
    [["L"], "from a launch to what it started, and back"], [["M"], "measure: first point, second point; at the pointer, else at the chosen slice's begin and end"],
    [["Esc"], "end measuring, then choose nothing"], [["/"], "find; Enter walks on, Shift + Enter back"], [["?"], "these keys"],
  ];
  const SAME = { "+": "w", "=": "w", "-": "s", "−": "s" };

  /* The elements around the canvas. */
  function parts(view) {
    const { element } = TV, first = view.windows[0];
    const canvas = element("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "timeline", "aria-label": "Timeline of device streams and host threads; the tables hold the same data", "aria-describedby": "tl-help" });
    const tip = element("div", { className: "tl-tip", hidden: true }), frame = element("div", { className: "tl-frame" }, canvas, tip);
    const find = element("input", { type: "search", placeholder: "Find slices by name", "aria-label": "Find slices by name" }), found = element("span", { className: "tl-found", "aria-live": "polite" });
    const windows = element("select", { "aria-label": "Go to a window", title: "Windows worth a look" }, element("option", { value: "", textContent: "Go to …" }));
    const exact = (w) => (!w.exact ? "short slices merged" : view.layout.unit > 1 ? "every slice single" : "every slice exact");
    view.windows.forEach((w, i) => windows.append(element("option", { value: String(i), textContent: w.label + " (" + exact(w) + ")" })));
    const inside = element("p", { className: "tl-inside" }), selected = element("div", { className: "tl-selected", role: "status", "aria-live": "polite" }), measured = element("div", { className: "tl-measured" });
    const arrived = element("p", { className: "hidden tl-arrived", role: "status" });
    const help = element("p", { className: "tl-help", id: "tl-help" }, "With the focus in the timeline: arrows walk over slices, W A S D zoom and pan, L follows a launch, M measures, / finds. ");
    return { canvas, tip, frame, find, found, windows, arrived, inside, selected, measured, help, first };
  }

  function timeline(root, view, columns, names) {
    const { element, duration } = TV, model = TV.timelineModel(view, columns), links = TV.timelineLinks(model, columns, names), SHORTEST = CLOSEST * model.unit; // ns
    const { canvas, tip, frame, find, found, windows, arrived, inside, selected, measured, help, first } = parts(view);
    let settled = false;
    const sides = TV.timelineSides(model, view, () => { links.moved(); if (settled) { painter.theme(); measure.reset(); arrows.choose(state.chosen); } });
    if (sides) sides.align(0);
    const state = { range: { from: 0, to: model.span }, hot: -1, chosen: -1, match: null, matches: [], drag: null, pointer: null, measuring: false };
    let frameId = 0, row = model.lanes.length ? model.lanes[0].first : 0, saving = 0;

    const arrows = TV.timelineArrows(model, links), measure = TV.timelineMeasure(model, measured, ask);
    const painter = TV.timelinePainter(canvas, model, view, names, [measure, arrows]);
    const panel = TV.timelinePanel(model, columns, names, links, selected), search = TV.timelineFind(model, names, find, found, fit, ask), keys = TV.timelineHelp(KEYS);

    const button = (text, key, title) => { const b = element("button", { type: "button", textContent: text, title, "aria-label": text.length > 1 ? text : title }); b.onclick = () => press(key); return b; };
    const gauge = button("Measure", "measure", "Two taps or a drag measure the time between two points (key M, or shift + drag)");
    const tools = element("div", { className: "tools" }, find, found, element("span", { className: "space" }), button("+", "w", "Zoom in"), button("−", "s", "Zoom out"), button(sides ? "Both traces" : "Whole trace", "0", sides ? "Show both traces whole" : "Show the whole trace"));
    if (first) tools.append(button(sides ? "Aligned" : model.steps.length ? "One step" : "Middle eighth", "f", first.label), windows);
    tools.append(gauge, button("Keys", "?", "Keys and gestures (key ?)"));
    gauge.setAttribute("aria-pressed", "false");
    root.replaceChildren(tools, frame, arrived, inside, measured, selected, help, keys.dialog);

    function draw() { frameId = 0; const t = performance.now(); state.match = search.state.match; state.matches = search.state.matches; painter.paint(state); api.last = performance.now() - t; }
    function ask() { if (!frameId) frameId = requestAnimationFrame(draw); }
    function flush() { if (frameId) cancelAnimationFrame(frameId); draw(); }
    function show(from, to) {
      const long = Math.min(model.span, Math.max(Math.min(SHORTEST, model.span), to - from));
      const begin = Math.max(0, Math.min(model.span - long, from));
      state.range = { from: begin, to: begin + long };
      ask(); save();
    }
    function zoom(factor, at) {
      const { from, to } = state.range, t = at === undefined ? (from + to) / 2 : at;
      show(t - (t - from) * factor, t + (to - t) * factor);
    }
    function goTo(w) { if (sides) sides.align(view.windows.indexOf(w)); show(w.start, w.end); }
    /* How many stretches of queues in view say “at most”. */
    function bounds(from, to) {
      let found = 0;
      for (const line of model.lines) if (line) line.time.forEach((time, i) => { if (line.merged[i] && time < to && !(line.time[i + 1] <= from)) found++; });
      return found;
    }
    /* Come here from elsewhere on the page: the keys work at once, and what is shown is said. */
    function come(what) {
      root.parentElement.scrollIntoView();
      canvas.focus({ preventScroll: true });
      arrived.textContent = what || "The timeline shows " + duration(state.range.to - state.range.from) + " from " + model.at(state.range.from, state.range.to - state.range.from) + ".";
    }
    /* What is in view, and whether it is exact. */
    function tell() {
      const { from, to } = state.range;
      let merged = 0;
      if (model.number.length) for (let r = 0; r + 1 < model.offset.length; r++) {
        for (let i = Math.max(model.offset[r], model.search(model.offset[r], model.offset[r + 1], from) - 1); i < model.offset[r + 1] && model.start[i] < to; i++) if (model.block[i] >= 0 && model.end[i] > from) merged++;
      }
      const loose = bounds(from, to), single = model.unit > 1 ? "every slice drawn here is single, its times in units of " + duration(model.unit) : "every slice drawn here is exact";
      inside.textContent = duration(to - from) + " in view, from " + model.at(from, to - from) + "  ·  " + (merged ? merged.toLocaleString("en-US") + " blocks of merged slices" : single)
        + (loose ? "  ·  queues are estimates here: " + loose.toLocaleString("en-US") + (loose > 1 ? " stretches" : " stretch") + " of “at most”" : "");
      const here = view.windows.findIndex((w, i) => (!sides || i === model.pair) && Math.abs(Math.max(0, w.start) - from) < 1 && Math.abs(Math.min(w.end, model.span) - to) < 1);
      if (document.activeElement !== windows) windows.value = here < 0 ? "" : String(here);
    }
    /* Address by row and start, not by number, so that a link survives another build of the page. */
    function save() {
      clearTimeout(saving);
      saving = setTimeout(() => {
        tell();
        const pick = state.chosen < 0 ? "" : "&s=" + model.rowOf(state.chosen) + "," + model.start[state.chosen];
        try { history.replaceState(null, "", "#t=" + Math.round(state.range.from) + "," + Math.round(state.range.to) + (sides && model.pair ? "&p=" + model.pair : "") + pick); } catch (e) { /* file:// may refuse */ }
      }, 250);
    }
    function restore() {
      if (follow()) return;
      if (first && (model.steps.length || sides)) goTo(first);
      clearTimeout(saving); tell(); // an address that leads elsewhere stays
    }
    /* Show what the address asks for; false where it asks for something else. */
    function follow() {
      const link = LINK.exec(location.hash);
      if (!link) return false;
      if (state.chosen >= 0) choose(-1);
      if (sides && view.windows[+link[3]]) sides.align(+link[3]);
      show(+link[1], Math.max(+link[2], +link[1] + 1));
      if (link[4] === undefined || +link[4] + 1 >= model.offset.length) return true;
      const at = model.holds(+link[4], +link[5]); // this page may have merged the slice: then its block
      if (at >= 0 && (model.start[at] === +link[5] || model.block[at] >= 0)) choose(at, false);
      return true;
    }
    function choose(item, follow) {
      state.chosen = item;
      arrows.choose(item);
      panel.fill(item, (target) => { fit(target); canvas.focus({ preventScroll: true }); });
      if (item >= 0) {
        row = model.rowOf(item);
        const { from, to } = state.range;
        if (follow) {
          if (model.start[item] > to || model.end[item] < from) show(model.start[item] - (to - from) / 2, model.start[item] + (to - from) / 2);
          reveal(row);
        }
      }
      ask(); save();
    }
    /* A row below or above what the window shows comes into sight. */
    function reveal(r) {
      const y = canvas.getBoundingClientRect().top + painter.place.rowTop[r], top = 70, bottom = innerHeight - 40;
      if (y < top || y > bottom) scrollBy({ top: y - (top + bottom) / 2 });
    }
    function beside(step) {
      const begin = model.offset[row], stop = model.offset[row + 1], match = search.state.match;
      let i = state.chosen < 0 ? model.search(begin, stop, state.range.from) : state.chosen + step;
      while (match && i >= begin && i < stop && !match[model.entry[i]]) i += step;
      if (i >= begin && i < stop) choose(i, true);
    }
    /* Choose an item and show it wide enough to be seen, with what is around it. */
    function fit(item) {
      const { from, to } = state.range, long = Math.max(model.end[item] - model.start[item], SHORTEST), part = long / (to - from);
      if (part < 0.01 || part > 0.9 || model.start[item] < from || model.end[item] > to) {
        const wide = Math.min(Math.max(long * 12, 1000), Math.max(long * 1.5, to - from)), middle = model.start[item] + long / 2;
        show(middle - wide / 2, middle + wide / 2);
      }
      choose(item, true);
    }
    function partner() {
      const link = links.about(state.chosen);
      if (link && link.target >= 0) fit(link.target);
    }
    function above(step) {
      const next = row + step;
      if (next < 0 || next + 1 >= model.offset.length) return;
      row = next;
      const time = state.chosen >= 0 ? model.start[state.chosen] : state.range.from, last = model.offset[row + 1] - 1;
      choose(Math.min(last, Math.max(model.offset[row], model.search(model.offset[row], last + 1, time))), true);
    }
    function enter() {
      if (state.chosen < 0) return;
      const c = state.chosen, wide = Math.max(model.end[c] - model.start[c], SHORTEST);
      show(model.start[c] - wide * 0.3, model.end[c] + wide * 0.3);
    }
    /* The next point to measure: where the pointer is, else begin and end of the chosen slice, else the middle. */
    function gaugeHere() {
      const c = state.chosen, { from, to } = state.range;
      measure.point(state.pointer !== null ? state.pointer : c < 0 ? (from + to) / 2 : measure.waits ? model.end[c] : model.start[c]);
    }
    function measuring(on) { state.measuring = on; gauge.setAttribute("aria-pressed", String(on)); canvas.style.cursor = on ? "crosshair" : ""; }
    function escape() {
      if (measure.open || state.measuring) { measuring(false); measure.reset(); } else choose(-1);
    }
    function press(given) {
      const { from, to } = state.range, long = to - from, key = SAME[given] || given;
      const actions = {
        w: () => zoom(0.6), s: () => zoom(1 / 0.6), a: () => show(from - long * 0.2, to - long * 0.2), d: () => show(from + long * 0.2, to + long * 0.2),
        0: () => show(0, model.span), f: () => { if (first) goTo(first); }, "/": () => find.focus(), "?": keys.open, Escape: escape, l: partner, m: gaugeHere,
        measure: () => measuring(!state.measuring), ArrowRight: () => beside(1), ArrowLeft: () => beside(-1), ArrowDown: () => above(1), ArrowUp: () => above(-1), Enter: enter,
      };
      if (!Object.hasOwn(actions, key)) return false;
      actions[key]();
      return true;
    }
    function hit(x, y) {
      const r = painter.rowAt(y);
      if (x < painter.label || r < 0) return -1;
      const time = painter.toTime(x, state.range), slack = ((state.range.to - state.range.from) / (painter.width - painter.label)) * 2;
      let best = -1;
      for (let i = model.search(model.offset[r], model.offset[r + 1], time + slack) - 1, k = 0; i >= model.offset[r] && k < 64 && model.end[i] >= time - slack; i--, k++) {
        if (best < 0 || model.end[i] - model.start[i] > model.end[best] - model.start[best]) best = i;
      }
      return best;
    }
    function click(x, y) {
      const far = arrows.at(x, y);
      if (far >= 0) fit(far); else choose(hit(x, y), false);
    }
    function hover(x, y) {
      const rows = painter.zone(y) === "rows" && x >= painter.label, item = rows ? hit(x, y) : -1, lane = rows && item < 0 ? painter.lineAt(y) : -1;
      if (item !== state.hot) { state.hot = item; ask(); }
      tip.hidden = item < 0 && lane < 0;
      if (tip.hidden) return;
      const d = item >= 0 ? panel.describe(item) : panel.depth(lane, painter.toTime(x, state.range));
      tip.textContent = d.short + "\n" + d.text;
      tip.style.left = Math.max(4, Math.min(x + 14, painter.width - 410)) + "px";
      tip.style.top = Math.min(y + 18, painter.height - 60) + "px";
    }
    function rest() { if (state.hot >= 0) { state.hot = -1; ask(); } tip.hidden = true; }

    windows.addEventListener("change", () => { if (windows.value) goTo(view.windows[+windows.value]); });
    measured.addEventListener("cleared", () => { measuring(false); canvas.focus({ preventScroll: true }); });
    find.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); search.walk(e.shiftKey ? -1 : 1); } if (e.key === "Escape") { search.search(""); canvas.focus(); } });
    const api = { show, choose, flush, press, model, links, arrows, measure, state, last: 0, theme: () => { painter.theme(); ask(); }, follow, find: (text) => { search.search(text); search.bring(state.range); }, enter: come };
    TV.timelineInput(canvas, { state, painter, measure, model, show, zoom, press, click, hover, rest, ask });
    new ResizeObserver(() => { if (frame.clientWidth && frame.clientWidth !== painter.width) { painter.resize(frame.clientWidth); painter.theme(); flush(); } }).observe(frame);
    painter.theme(); painter.resize(frame.clientWidth || 960); settled = true;
    restore();
    flush();
    return api;
  }
  TV.timeline = timeline;
})();

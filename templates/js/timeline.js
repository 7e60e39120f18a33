/* traceview timeline: view, pointer, keyboard and search over TV.timelineModel and TV.timelinePainter.
   Exposes TV.timeline(root, view, columns, names). Plain wheel scrolls the page, ctrl + wheel zooms. */
(function () {
  "use strict";
  const CLOSEST = 50; // units: the closest zoom
  const HELP = [["W", "S", "zoom"], ["A", "D", "pan"], ["←", "→", "next slice"], ["↑", "↓", "row"], ["Enter", "zoom to slice"], ["L", "launch ↔ record"], ["0", "all"]];

  function timeline(root, view, columns, names) {
    const { element, duration } = TV, model = TV.timelineModel(view, columns), links = TV.timelineLinks(model, columns, names), SHORTEST = CLOSEST * model.unit; // ns
    const canvas = element("canvas", { tabIndex: 0, role: "application", "aria-roledescription": "timeline", "aria-label": "Timeline of device streams and host threads; the tables hold the same data", "aria-describedby": "tl-help" });
    const tip = element("div", { className: "tl-tip", hidden: true }), frame = element("div", { className: "tl-frame" }, canvas, tip);
    const find = element("input", { type: "search", placeholder: "Find slices by name", "aria-label": "Find slices by name" });
    const found = element("span", { "aria-live": "polite" }), selected = element("div", { className: "tl-selected", role: "status", "aria-live": "polite" });
    const button = (text, key, title) => { const b = element("button", { type: "button", textContent: text, title, "aria-label": text.length > 1 ? text : title }); b.onclick = () => press(key); return b; };
    const tools = element("div", { className: "tools" }, find, found, element("span", { className: "space" }), button("+", "w", "Zoom in"), button("−", "s", "Zoom out"), button("Whole trace", "0", "Show the whole trace"));
    const exact = model.number.length ? ": here every slice is exact, elsewhere short ones are merged" : "";
    if (view.focus) tools.append(button(view.steps.length ? "One step" : "Middle eighth", "f", (view.steps.length ? "Show the step of median length" : "Show the middle eighth of the device's time") + exact));
    const help = element("p", { className: "tl-help", id: "tl-help" });
    for (const line of [...HELP, ["F", view.steps.length ? "step" : "middle eighth"], ["/", "find, from anywhere on the page"]]) help.append(...line.slice(0, -1).flatMap((k) => [element("kbd", { textContent: k }), " "]), line[line.length - 1] + "  ·  ");
    help.prepend("With the focus in the timeline: ");
    help.append(element("kbd", { textContent: "Ctrl" }), " + wheel zoom  ·  drag pan  ·  drag the ruler to zoom to a range");
    root.replaceChildren(tools, frame, selected, help);

    const painter = TV.timelinePainter(canvas, model, view, names);
    const state = { range: { from: 0, to: model.span }, hot: -1, chosen: -1, match: null, matches: [], at: -1, drag: null };
    let frameId = 0, held = null, row = model.lanes.length ? model.lanes[0].first : 0, saving = 0;

    function draw() { frameId = 0; const t = performance.now(); painter.paint(state); api.last = performance.now() - t; }
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
    /* Address by row and start, not by number, so that a link survives another build of the page. */
    function save() {
      clearTimeout(saving);
      saving = setTimeout(() => {
        const pick = state.chosen < 0 ? "" : "&s=" + model.rowOf(state.chosen) + "," + model.start[state.chosen];
        try { history.replaceState(null, "", "#t=" + Math.round(state.range.from) + "," + Math.round(state.range.to) + pick); } catch (e) { /* file:// may refuse */ }
      }, 250);
    }
    function restore() {
      const link = /^#t=(\d+),(\d+)(?:&s=(\d+),(\d+))?$/.exec(location.hash);
      if (!link) { if (view.focus && view.steps.length) show(view.focus[0], view.focus[1]); clearTimeout(saving); return; } // an address that leads elsewhere stays
      show(+link[1], Math.max(+link[2], +link[1] + 1));
      if (link[3] === undefined || +link[3] + 1 >= model.offset.length) return;
      const at = model.search(model.offset[+link[3]], model.offset[+link[3] + 1], +link[4]);
      if (at < model.offset[+link[3] + 1] && model.start[at] === +link[4]) choose(at, false);
    }
    function describe(item) {
      const lane = model.lanes[model.laneOf[model.rowOf(item)]], long = model.end[item] - model.start[item], at = " at " + duration(model.start[item], model.span);
      const name = names.text(model.name(item));
      if (model.block[item] < 0) return { name, short: names.label(model.name(item)), text: duration(long) + at + "  ·  " + lane.label };
      const many = model.slices(item).toLocaleString("en-US") + " slices merged, the longest: ";
      return { name, short: many + names.label(model.name(item)), text: duration(long) + at + ", " + Math.round(100 * model.share(item)) + " % busy  ·  " + lane.label };
    }
    function choose(item, follow) {
      state.chosen = item;
      selected.replaceChildren();
      if (item >= 0) {
        row = model.rowOf(item);
        const d = describe(item), copy = element("button", { type: "button", textContent: "Copy name" });
        copy.onclick = () => TV.copy(d.name, copy);
        if (model.block[item] >= 0) d.text = d.short + "  ·  " + d.text;
        const link = links.about(item);
        selected.append(element("b", { textContent: d.text }), copy);
        if (link && link.target >= 0) {
          const go = element("button", { type: "button", textContent: link.to, title: "Key L" });
          go.onclick = () => { fit(link.target); canvas.focus({ preventScroll: true }); };
          selected.append(" ", go);
        }
        selected.append(element("code", { textContent: d.name }));
        if (link) for (const line of link.lines) selected.append(element("div", { className: "tl-link", textContent: line }));
        const { from, to } = state.range;
        if (follow && (model.start[item] > to || model.end[item] < from)) show(model.start[item] - (to - from) / 2, model.start[item] + (to - from) / 2);
      }
      ask(); save();
    }
    function beside(step) {
      const first = model.offset[row], stop = model.offset[row + 1];
      let i = state.chosen < 0 ? model.search(first, stop, state.range.from) : state.chosen + step;
      while (state.match && i >= first && i < stop && !state.match[model.name(i)]) i += step;
      if (i >= first && i < stop) choose(i, true);
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
    /* Enter in the search field: the next match in any row, round and round; with shift the one before. */
    function nextMatch(step) {
      const number = state.matches.length;
      if (!number) return;
      state.at = state.at < 0 && step < 0 ? number - 1 : (state.at + step + number) % number;
      fit(state.matches[state.at]);
      found.textContent = (state.at + 1).toLocaleString("en-US") + " of " + number.toLocaleString("en-US");
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
    function press(key) {
      const { from, to } = state.range, long = to - from;
      const actions = {
        w: () => zoom(0.6), s: () => zoom(1 / 0.6), a: () => show(from - long * 0.2, to - long * 0.2), d: () => show(from + long * 0.2, to + long * 0.2),
        0: () => show(0, model.span), f: () => { if (view.focus) show(view.focus[0], view.focus[1]); }, "/": () => find.focus(), Escape: () => choose(-1), l: partner,
        ArrowRight: () => beside(1), ArrowLeft: () => beside(-1), ArrowDown: () => above(1), ArrowUp: () => above(-1),
        Enter: () => { if (state.chosen >= 0) { const c = state.chosen, w = Math.max(model.end[c] - model.start[c], SHORTEST); show(model.start[c] - w * 0.3, model.end[c] + w * 0.3); } },
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
    function hover(x, y) {
      const item = painter.zone(y) === "rows" ? hit(x, y) : -1;
      if (item !== state.hot) { state.hot = item; ask(); }
      tip.hidden = item < 0;
      if (item < 0) return;
      const d = describe(item);
      tip.textContent = d.short + "\n" + d.text;
      tip.style.left = Math.max(4, Math.min(x + 14, painter.width - 410)) + "px";
      tip.style.top = Math.min(y + 18, painter.height - 60) + "px";
    }
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (press(e.key.length === 1 ? e.key.toLowerCase() : e.key)) e.preventDefault();
    });
    document.addEventListener("keydown", (e) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement ? document.activeElement.tagName : "");
      if (e.key !== "/" || typing || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
      e.preventDefault();
      find.focus();
    });
    canvas.addEventListener("wheel", (e) => {
      if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.pow(1.0018, e.deltaY), painter.toTime(e.offsetX, state.range)); return; }
      if (!e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return;
      e.preventDefault();
      const by = ((e.deltaX || e.deltaY) / (painter.width - painter.label)) * (state.range.to - state.range.from);
      show(state.range.from + by, state.range.to + by);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      const zone = painter.zone(e.offsetY);
      held = { x: e.offsetX, zone: e.shiftKey && zone === "rows" ? "ruler" : zone, range: state.range, moved: false };
      if (zone === "mini") jump(e.offsetX);
    });
    function jump(x) {
      const t = ((x - painter.label) / (painter.width - painter.label)) * model.span, half = (state.range.to - state.range.from) / 2;
      show(t - half, t + half);
    }
    canvas.addEventListener("pointermove", (e) => {
      if (!held) { hover(e.offsetX, e.offsetY); return; }
      held.moved = held.moved || Math.abs(e.offsetX - held.x) > 3;
      if (held.zone === "mini") jump(e.offsetX);
      else if (held.zone === "ruler") { state.drag = [painter.toTime(held.x, state.range), painter.toTime(e.offsetX, state.range)]; ask(); }
      else if (held.moved) {
        tip.hidden = true;
        const by = ((held.x - e.offsetX) / (painter.width - painter.label)) * (held.range.to - held.range.from);
        show(held.range.from + by, held.range.to + by);
      }
    });
    canvas.addEventListener("pointerup", (e) => {
      const drag = state.drag, h = held;
      held = null; state.drag = null;
      if (!h) return;
      if (drag && h.moved) show(Math.min(drag[0], drag[1]), Math.max(drag[0], drag[1]));
      else if (h.zone === "rows" && !h.moved) choose(hit(e.offsetX, e.offsetY), false);
      ask();
    });
    canvas.addEventListener("pointercancel", () => { held = null; state.drag = null; ask(); });
    canvas.addEventListener("pointerleave", () => { state.hot = -1; tip.hidden = true; ask(); });
    canvas.addEventListener("dblclick", () => press("Enter"));
    find.addEventListener("input", () => search(find.value));
    find.addEventListener("keydown", (e) => { if (e.key === "Enter") { e.preventDefault(); nextMatch(e.shiftKey ? -1 : 1); } if (e.key === "Escape") { find.value = ""; search(""); canvas.focus(); } });
    function search(text) {
      const wanted = text.trim().toLowerCase();
      state.match = null; state.matches = []; state.at = -1; found.textContent = "";
      if (wanted) {
        const used = new Set(model.nameOfEntry), match = {};
        for (const n of used) if (names.text(n).toLowerCase().includes(wanted) || names.label(n).toLowerCase().includes(wanted)) match[n] = true;
        let exact = 0, merged = 0; // of a block only the longest slice's name is known
        for (let i = 0; i < model.items; i++) if (match[model.name(i)]) { state.matches.push(i); if (model.block[i] < 0) exact++; else merged++; }
        state.match = match;
        found.textContent = (exact || merged ? exact.toLocaleString("en-US") + " slices" : "no slice") + (merged ? " and " + merged.toLocaleString("en-US") + " blocks" : "") + " match";
      }
      ask();
    }
    const api = { show, choose, flush, press, model, links, state, last: 0, theme: () => { painter.theme(); ask(); }, find: (text) => { find.value = text; search(text); } };
    new ResizeObserver(() => { if (frame.clientWidth && frame.clientWidth !== painter.width) { painter.resize(frame.clientWidth); painter.theme(); flush(); } }).observe(frame);
    painter.theme(); painter.resize(frame.clientWidth || 960);
    restore();
    flush();
    return api;
  }
  TV.timeline = timeline;
})();

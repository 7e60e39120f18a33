/* traceview timeline, painter: lays out lanes and draws a view of the model on a canvas: overview, ruler, steps, lanes, lines, outlines.
   Exposes TV.timelinePainter(canvas, model, view, names, overlays); overlays are drawn over the rows, each by paint(pen, place, range). */
(function () {
  "use strict";
  const ROW = 17, GAP = 10, RULER = 24, MINI = 46, BAR = 15, LINE = 30, BESIDE = 84, SECOND = 0.5; // SECOND: of a row, room for the second line of text
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  function timelinePainter(canvas, model, view, names, overlays) {
    const sides = view.layout.sides, pen = canvas.getContext("2d", { alpha: false }), rows = TV.timelineRows(pen, model, names);
    const rowTop = new Float64Array(model.offset.length), laneTop = [];
    let y = MINI + RULER + 6;
    for (const lane of model.lanes) {
      laneTop.push(y);
      for (let r = lane.first; r < lane.first + lane.rows; r++, y += ROW) rowTop[r] = y;
      if (!lane.rows) y += LINE; else if (lane.rows < 2) y += ROW * SECOND;
      y += GAP;
    }
    const place = { rowTop, laneTop, height: Math.ceil(y), bar: BAR, top: MINI + RULER, width: 0, label: 200, colours: {}, toX, toTime };
    const merged = model.number.length > 0, every = [...rowTop.subarray(0, model.offset.length - 1)].map((top, r) => ({ r, top }));
    let scale = 1, mini = null, said = null; // said: what stands left of the lanes, cut to its room

    function theme() {
      const dark = document.documentElement.dataset.theme === "dark", c = {};
      for (const name of ["bg", "band", "fg", "muted", "line", "hair", "accent", "ink"]) c[name] = css(name);
      c.fill = model.tokens.map((t) => css("c-" + t));
      // host colours are dark in the dark theme: their text is light
      c.on = model.tokens.map((t) => (dark && /^(op|launch|runtime|annotation|sync|python|overhead)$/.test(t) ? c.fg : css("ink-" + t) || c.ink));
      place.colours = c;
      rows.theme(c);
      mini = null;
    }
    function resize(to) {
      place.width = to; place.label = to < 640 ? 96 : 200; scale = window.devicePixelRatio || 1; mini = said = null;
      canvas.width = Math.round(to * scale); canvas.height = Math.round(place.height * scale);
      canvas.style.width = to + "px"; canvas.style.height = place.height + "px";
    }
    function toX(t, range) { return place.label + ((t - range.from) / (range.to - range.from)) * (place.width - place.label); }
    function toTime(x, range) { return range.from + ((x - place.label) / (place.width - place.label)) * (range.to - range.from); }

    function drawMini() {
      const tops = model.lanes.filter((l) => l.device).slice(0, 4), shown = tops.length ? tops : model.lanes.filter((l) => l.rows).slice(0, 2);
      const host = model.lanes.find((l) => l.rows && !l.device && !/ · (marks|annotations)$/.test(l.label));
      if (tops.length && host) shown.push(host);
      const tall = Math.max(2, Math.floor((MINI - 6) / shown.length)), whole = { from: 0, to: model.span };
      rows.draw(shown.map((lane, k) => ({ r: lane.first, top: 3 + k * tall })), whole, { left: place.label, right: place.width, tall: tall - 1, written: false }, null);
    }
    function cacheMini() {
      mini = document.createElement("canvas");
      mini.width = canvas.width; mini.height = Math.round(MINI * scale);
      pen.fillStyle = place.colours.band; pen.fillRect(0, 0, place.width, MINI);
      drawMini();
      mini.getContext("2d").drawImage(canvas, 0, 0, mini.width, mini.height, 0, 0, mini.width, mini.height);
    }
    function nice(v) {
      const p = Math.pow(10, Math.floor(Math.log10(v))), f = v / p;
      return (f < 1.5 ? 1 : f < 3.5 ? 2 : f < 7.5 ? 5 : 10) * p;
    }
    function tick(v, step) {
      const [unit, text] = step >= 1e9 || (v >= 1e10 && step >= 1e7) ? [1e9, " s"] : step >= 5e4 ? [1e6, " ms"] : step >= 50 ? [1e3, " µs"] : [1, " ns"];
      return (v / unit).toLocaleString("en-US", { maximumFractionDigits: Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)) }) + text;
    }
    function drawRuler(range) {
      const step = Math.max(1, nice((range.to - range.from) / ((place.width - place.label) / 110)));
      pen.fillStyle = place.colours.muted; pen.strokeStyle = place.colours.hair; pen.lineWidth = 1; pen.beginPath();
      for (let v = Math.ceil((range.from - model.anchor) / step) * step; v <= range.to - model.anchor; v += step) {
        const x = Math.round(toX(v + model.anchor, range)) + 0.5;
        pen.moveTo(x, MINI + RULER - 6); pen.lineTo(x, place.height);
        pen.fillText(tick(v, step), x + 4, MINI + 15);
      }
      pen.stroke();
    }
    function drawSteps(range) {
      const perNs = (place.width - place.label) / (range.to - range.from);
      pen.strokeStyle = pen.fillStyle = place.colours.accent;
      for (const step of model.steps) {
        if (step.from > range.to) continue;
        if (step.from + step.long < range.from || step.long * perNs < 40) continue;
        const at = toX(step.from, range), x = Math.max(place.label, at);
        if (at >= place.label) { pen.globalAlpha = 0.5; pen.setLineDash(step.side ? [3, 3] : []); pen.beginPath(); pen.moveTo(x + 0.5, MINI + RULER - 4); pen.lineTo(x + 0.5, place.height); pen.stroke(); pen.setLineDash([]); pen.globalAlpha = 1; }
        const reach = Math.min(place.width, toX(step.from + step.long, range));
        const text = (sides ? sides.names[step.side] + " " : "") + "step " + step.number, aside = step.side ? BESIDE : 4; // of two that begin together both can be read
        if (reach - x > (sides ? 2 * BESIDE : 60)) pen.fillText(text, x + aside, MINI + RULER + 1);
      }
    }
    /* A line of depths: filled steps, the deepest point of each pixel; what is at most so deep is paler, with a broken edge. */
    function drawLine(k, range) {
      const line = model.lines[k], base = laneTop[k] + LINE - 2, tall = LINE - 6, perNs = (place.width - place.label) / (range.to - range.from);
      pen.fillStyle = place.colours.muted;
      let x = place.label, level = 0, peak = 0, loose = 0; // from x on: the deepest point of a pixel, then what holds
      const bar = (from, wide, high) => {
        pen.globalAlpha = 0.4; pen.fillRect(from, base - high, wide, high);
        if (high) { pen.globalAlpha = 1; pen.fillRect(from, base - high, wide, 1.5); }
      };
      const reach = (to) => {
        bar(x, Math.min(1, to - x), peak);
        if (to - x <= 1) return;
        if (!loose || !level) { bar(x + 1, to - x - 1, level); return; }
        pen.globalAlpha = 0.16; pen.fillRect(x + 1, base - level, to - x - 1, level);
        pen.globalAlpha = 1;
        for (let at = x + 1; at < to; at += 8) pen.fillRect(at, base - level, Math.min(3, to - at), 1.5);
      };
      for (let i = 0; i < line.time.length && line.time[i] < range.to; i++) {
        const now = (line.depth[i] / line.most) * tall;
        if (line.time[i] <= range.from) { level = peak = now; loose = line.merged[i]; continue; }
        const at = place.label + (line.time[i] - range.from) * perNs;
        if (at - x >= 1) { reach(at); x = at; peak = 0; }
        level = now; loose = line.merged[i]; peak = Math.max(peak, now);
      }
      reach(place.width);
      pen.globalAlpha = 1; pen.fillStyle = place.colours.line; pen.fillRect(place.label, base, place.width - place.label, 1);
    }
    /* What stands left of a lane: "GPU 0 · stream 7 · marks" takes two lines where it is long or room is short. */
    function words(lane, room) {
      const parts = lane.label.split(" · ");
      if (place.label < 150 && sides) return [parts[0] + " " + parts[1], parts.slice(2).join(" ") || lane.note, lane.rows > 2 ? lane.note.split(" · ")[0] : ""];
      if (place.label < 150) {
        const last = parts.length > 2 ? parts.pop() : "", note = lane.rows > 2 ? lane.note.split(" · ")[0] : "";
        const head = (parts[0] + " " + last).trim();
        return parts.length > 1 ? [head.length > 13 ? last : head, parts.slice(1).join(" "), note] : [lane.label, lane.note];
      }
      if (lane.label.length <= room || parts.length < 3) return [lane.label, lane.note];
      const last = parts.pop();
      return [parts.join(" · "), last + " · " + lane.note];
    }
    function drawLabels() {
      const { label, colours, height } = place;
      pen.fillStyle = colours.bg; pen.fillRect(0, MINI, label, height - MINI);
      pen.fillStyle = colours.line; pen.fillRect(label - 1, MINI, 1, height);
      const fonts = ["12px " + FONT, "10.5px " + FONT, "10.5px " + FONT];
      if (!said) said = model.lanes.map((lane) => words(lane, Math.floor((label - 14) / 6.3)).map((text, i) => { pen.font = fonts[i]; return cut(text, label - 12); }));
      said.forEach((lines, k) => lines.forEach((text, i) => {
        pen.font = fonts[i]; pen.fillStyle = i ? colours.muted : colours.fg;
        pen.fillText(text, 8, laneTop[k] + 12 + 13 * i);
      }));
    }
    /* A text shortened at its end to a width, in the pen's font. */
    function cut(text, room) {
      const wide = pen.measureText(text).width;
      if (wide <= room) return text;
      let most = Math.ceil((text.length * room) / wide) + 2;
      while (most > 1 && pen.measureText(text.slice(0, most) + "…").width > room) most--;
      return text.slice(0, most) + "…";
    }
    function outline(item, thick, range) {
      if (item < 0) return;
      const x = Math.max(place.label, toX(model.start[item], range)), right = Math.min(place.width, Math.max(toX(model.end[item], range), toX(model.start[item], range) + 2));
      if (right <= x) return;
      pen.strokeStyle = place.colours.fg; pen.lineWidth = thick;
      pen.strokeRect(x, rowTop[model.rowOf(item)], right - x, BAR); pen.lineWidth = 1;
    }
    function shade(from, to, range, top, alpha) {
      const x = Math.max(place.label, toX(from, range)), right = Math.min(place.width, toX(to, range));
      if (right <= x) return;
      pen.globalAlpha = alpha; pen.fillStyle = place.colours.accent; pen.fillRect(x, top, right - x, place.height - top); pen.globalAlpha = 1;
    }
    function drawLanes(range, match) {
      model.lanes.forEach((lane, k) => {
        if (k) { pen.fillStyle = place.colours.hair; pen.fillRect(0, laneTop[k] - GAP / 2 - 1, place.width, 1); }
        if (model.lines[k]) drawLine(k, range);
      });
      rows.draw(every, range, { left: place.label, right: place.width, tall: BAR, written: true }, match);
    }
    function drawOverview(range) {
      const { label, width, colours } = place, perNs = (width - label) / model.span;
      pen.fillStyle = colours.band; pen.fillRect(0, 0, label, MINI);
      pen.fillStyle = colours.muted; pen.font = "11px " + FONT; pen.fillText(sides ? "both traces" : "whole trace", 8, 18); pen.fillText(TV.duration(model.span), 8, 33);
      const a = label + range.from * perNs, b = Math.max(a + 3, label + range.to * perNs);
      pen.fillStyle = colours.accent; pen.globalAlpha = 0.16; pen.fillRect(a, 0, b - a, MINI); pen.globalAlpha = 1;
      pen.strokeStyle = colours.accent; pen.strokeRect(a + 0.5, 0.5, b - a - 1, MINI - 1);
      pen.fillStyle = colours.line; pen.fillRect(0, MINI, width, 1);
    }
    /* state: {range, hot, chosen, match, drag} */
    function paint(state) {
      const range = state.range;
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      pen.font = "10.5px " + FONT; pen.textBaseline = "alphabetic";
      if (!mini) cacheMini();
      pen.fillStyle = place.colours.bg; pen.fillRect(0, 0, place.width, place.height);
      pen.drawImage(mini, 0, 0, place.width, MINI);
      drawRuler(range);
      if (merged) for (const w of sides ? [view.windows[model.pair]] : view.windows) if (w.exact) shade(w.start, w.end, range, MINI + RULER - 6, 0.06);
      drawLanes(range, state.match);
      drawSteps(range);
      if (state.drag) shade(Math.min(state.drag[0], state.drag[1]), Math.max(state.drag[0], state.drag[1]), range, MINI, 0.18);
      outline(state.hot, 1, range); outline(state.chosen, 2, range);
      drawLabels();
      for (const overlay of overlays) overlay.paint(pen, place, range);
      drawOverview(range);
    }
    function rowAt(yy) {
      for (let r = 0; r + 1 < model.offset.length; r++) if (yy >= rowTop[r] && yy < rowTop[r] + ROW) return r;
      return -1;
    }
    /* The lane whose line is at a height, -1 for none. */
    const lineAt = (yy) => model.lanes.findIndex((lane, k) => model.lines[k] && yy >= laneTop[k] && yy < laneTop[k] + LINE);
    return { paint, resize, theme, place, toTime, rowAt, lineAt, zone: (yy) => (yy < MINI ? "mini" : yy < MINI + RULER ? "ruler" : "rows"), get width() { return place.width; }, get label() { return place.label; }, get height() { return place.height; } };
  }
  TV.timelinePainter = timelinePainter;
})();

/* traceview timeline, painter: draws a view of the model on a canvas. Exposes TV.timelinePainter(canvas, model, view, names).
   Slices narrower than a pixel merge into one column, coloured by the longest and shaded by how much they cover. */
(function () {
  "use strict";
  const ROW = 17, GAP = 10, RULER = 24, MINI = 46, BAR = 15;
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

  function timelinePainter(canvas, model, view, names) {
    const pen = canvas.getContext("2d", { alpha: false });
    const rowTop = new Float64Array(model.offset.length), laneTop = [];
    let y = MINI + RULER + 6;
    for (const lane of model.lanes) {
      laneTop.push(y);
      for (let r = lane.first; r < lane.first + lane.rows; r++, y += ROW) rowTop[r] = y;
      if (lane.rows < 2) y += ROW * 0.5; // room for the lane's second line of text
      y += GAP;
    }
    const height = Math.ceil(y);
    let width = 0, label = 200, scale = 1, colours = {}, mini = null;
    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

    function theme() {
      colours = { bg: css("bg"), band: css("band"), fg: css("fg"), muted: css("muted"), line: css("line"), hair: css("hair"), accent: css("accent"), ink: css("ink") };
      colours.fill = model.tokens.map((t) => css("c-" + t));
      colours.on = model.tokens.map((t) => css("ink-" + t) || colours.ink);
      // host colours are dark in the dark theme: their text is light
      if (document.documentElement.dataset.theme === "dark") model.tokens.forEach((t, i) => { if (/^(op|launch|runtime|annotation|sync|python|overhead)$/.test(t)) colours.on[i] = colours.fg; });
      mini = null;
    }
    function resize(to) {
      width = to; label = to < 640 ? 96 : 200; scale = window.devicePixelRatio || 1; mini = null;
      canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
      canvas.style.width = width + "px"; canvas.style.height = height + "px";
    }
    const toX = (t, range) => label + ((t - range.from) / (range.to - range.from)) * (width - label);
    const toTime = (x, range) => range.from + ((x - label) / (width - label)) * (range.to - range.from);

    function drawRow(r, top, tall, range, match, texts) {
      const { start, end, entry, block } = model, stop = model.offset[r + 1], perNs = (width - label) / (range.to - range.from);
      let i = Math.max(model.offset[r], model.search(model.offset[r], stop, range.from) - 1), column = -1, best = -1, longest = -1, cover = 0;
      const dim = (e) => (match && !match[model.nameOfEntry[e]] ? 0.16 : 1);
      const flush = () => {
        if (best < 0) return;
        pen.globalAlpha = Math.min(1, 0.25 + 0.75 * cover) * dim(entry[best]);
        pen.fillStyle = colours.fill[model.classOfEntry[entry[best]]];
        pen.fillRect(column, top, 1, tall);
        best = longest = -1; cover = 0;
      };
      for (; i < stop && start[i] < range.to; i++) {
        if (end[i] < range.from) continue;
        const x = label + Math.max(0, (start[i] - range.from) * perNs), right = label + Math.min(width - label, (end[i] - range.from) * perNs), w = right - x;
        if (w < 1) {
          if ((x | 0) !== column) { flush(); column = x | 0; }
          cover += w * model.share(i);
          if (end[i] - start[i] > longest) { longest = end[i] - start[i]; best = i; }
          continue;
        }
        flush();
        const e = entry[i], kind = model.classOfEntry[e], faint = dim(e);
        pen.fillStyle = colours.fill[kind];
        if (block[i] >= 0) {
          const share = model.share(i);
          pen.globalAlpha = 0.25 * faint; pen.fillRect(x, top, w, tall);
          pen.globalAlpha = 0.9 * faint; pen.fillRect(x, top + tall * (1 - share), w, tall * share);
        } else { pen.globalAlpha = faint; pen.fillRect(x, top, Math.max(1, w > 3 ? w - 0.6 : w), tall); }
        if (texts && w > 30) {
          pen.globalAlpha = faint;
          pen.fillStyle = block[i] >= 0 ? colours.fg : colours.on[kind];
          const text = block[i] >= 0 ? "×" + model.slices(i) : names.label(model.nameOfEntry[e]), room = ((w - 8) / 5.9) | 0;
          if (room > 1) pen.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x + 4, top + tall - 4);
        }
      }
      flush();
      pen.globalAlpha = 1;
    }
    function drawMini() {
      const tops = model.lanes.filter((l) => l.device).slice(0, 4), shown = tops.length ? tops : model.lanes.slice(0, 2);
      const host = model.lanes.find((l) => !l.device);
      if (tops.length && host) shown.push(host);
      const tall = Math.max(2, Math.floor((MINI - 6) / shown.length)), whole = { from: 0, to: model.span };
      shown.forEach((lane, k) => drawRow(lane.first, 3 + k * tall, tall - 1, whole, null, false));
    }
    function cacheMini() {
      mini = document.createElement("canvas");
      mini.width = canvas.width; mini.height = Math.round(MINI * scale);
      pen.fillStyle = colours.band; pen.fillRect(0, 0, width, MINI);
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
      const step = Math.max(1, nice((range.to - range.from) / ((width - label) / 110)));
      pen.fillStyle = colours.muted; pen.strokeStyle = colours.hair; pen.lineWidth = 1; pen.beginPath();
      for (let v = Math.ceil(range.from / step) * step; v <= range.to; v += step) {
        const x = Math.round(toX(v, range)) + 0.5;
        pen.moveTo(x, MINI + RULER - 6); pen.lineTo(x, height);
        pen.fillText(tick(v, step), x + 4, MINI + 15);
      }
      pen.stroke();
    }
    function drawSteps(range) {
      const wide = (width - label) / (range.to - range.from);
      for (const [text, from, long] of view.steps) {
        if (from + long < range.from || from > range.to || long * wide < 40) continue;
        const x = Math.max(label, toX(from, range));
        pen.strokeStyle = colours.accent; pen.globalAlpha = 0.5; pen.beginPath(); pen.moveTo(x + 0.5, MINI + RULER - 4); pen.lineTo(x + 0.5, height); pen.stroke();
        pen.globalAlpha = 1;
        if (long * wide > 90 && toX(from, range) >= label) { pen.fillStyle = colours.accent; pen.fillText("step " + text, x + 4, MINI + RULER + 1); }
      }
    }
    function drawLabels() {
      pen.fillStyle = colours.bg; pen.fillRect(0, MINI, label, height - MINI);
      pen.fillStyle = colours.line; pen.fillRect(label - 1, MINI, 1, height);
      const cut = (t, room) => (t.length > room ? t.slice(0, room - 1) + "…" : t);
      const lines = (lane) => {
        if (label >= 150) return [lane.label, lane.note];
        const words = lane.label.split(" · "), last = words.length > 2 ? " " + words.pop() : ""; // "GPU 0 · stream 7 · marks"
        return words.length > 1 ? [words[0] + last, words.slice(1).join(" ")] : [lane.label, lane.note];
      };
      model.lanes.forEach((lane, k) => {
        const [first, second] = lines(lane);
        pen.fillStyle = colours.fg; pen.font = "12px " + FONT; pen.fillText(cut(first, Math.floor((label - 14) / 6.3)), 8, laneTop[k] + 12);
        pen.fillStyle = colours.muted; pen.font = "10.5px " + FONT; pen.fillText(cut(second, Math.floor((label - 14) / 5.5)), 8, laneTop[k] + 25);
      });
    }
    function outline(item, thick, range) {
      if (item < 0) return;
      const x = Math.max(label, toX(model.start[item], range)), right = Math.min(width, Math.max(toX(model.end[item], range), toX(model.start[item], range) + 2));
      if (right <= x) return;
      pen.strokeStyle = colours.fg; pen.lineWidth = thick;
      pen.strokeRect(x, rowTop[model.rowOf(item)], right - x, BAR); pen.lineWidth = 1;
    }
    function shade(from, to, range, top, alpha) {
      const x = Math.max(label, toX(from, range)), right = Math.min(width, toX(to, range));
      if (right <= x) return;
      pen.globalAlpha = alpha; pen.fillStyle = colours.accent; pen.fillRect(x, top, right - x, height - top); pen.globalAlpha = 1;
    }
    /* state: {range, hot, chosen, match, drag} */
    function paint(state) {
      const range = state.range;
      pen.setTransform(scale, 0, 0, scale, 0, 0);
      pen.font = "10.5px " + FONT; pen.textBaseline = "alphabetic";
      if (!mini) cacheMini();
      pen.fillStyle = colours.bg; pen.fillRect(0, 0, width, height);
      pen.drawImage(mini, 0, 0, width, MINI);
      drawRuler(range);
      if (view.focus) shade(view.focus[0], view.focus[1], range, MINI + RULER - 6, 0.06);
      model.lanes.forEach((lane, k) => {
        if (k) { pen.fillStyle = colours.hair; pen.fillRect(0, laneTop[k] - GAP / 2 - 1, width, 1); }
        for (let r = lane.first; r < lane.first + lane.rows; r++) drawRow(r, rowTop[r], BAR, range, state.match, true);
      });
      drawSteps(range);
      if (state.drag) shade(Math.min(state.drag[0], state.drag[1]), Math.max(state.drag[0], state.drag[1]), range, MINI, 0.18);
      outline(state.hot, 1, range); outline(state.chosen, 2, range);
      drawLabels();
      pen.fillStyle = colours.band; pen.fillRect(0, 0, label, MINI);
      pen.fillStyle = colours.muted; pen.font = "11px " + FONT; pen.fillText("whole trace", 8, 18); pen.fillText(TV.duration(model.span), 8, 33);
      const a = label + (range.from / model.span) * (width - label), b = Math.max(a + 3, label + (range.to / model.span) * (width - label));
      pen.fillStyle = colours.accent; pen.globalAlpha = 0.16; pen.fillRect(a, 0, b - a, MINI); pen.globalAlpha = 1;
      pen.strokeStyle = colours.accent; pen.strokeRect(a + 0.5, 0.5, b - a - 1, MINI - 1);
      pen.fillStyle = colours.line; pen.fillRect(0, MINI, width, 1);
    }
    function rowAt(yy) {
      for (let r = 0; r + 1 < model.offset.length; r++) if (yy >= rowTop[r] && yy < rowTop[r] + ROW) return r;
      return -1;
    }
    return { paint, resize, theme, toTime, rowAt, zone: (yy) => (yy < MINI ? "mini" : yy < MINI + RULER ? "ruler" : "rows"), get width() { return width; }, get label() { return label; }, get height() { return height; } };
  }
  TV.timelinePainter = timelinePainter;
})();

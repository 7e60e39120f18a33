/* traceview timeline, measure: the time between two points, and how busy each device is in between.
   Exposes TV.timelineMeasure(model, line, ask). Busy time is exact where only exact slices lie in between and all device work is drawn;
   where merged slices do, their busy shares are taken as spread evenly, and the text says that it is an estimate. */
(function () {
  "use strict";

  /* Busy ns of [from, to) over pieces {from, to, share}, sorted by from: what several rows cover counts once. */
  function covered(pieces, from, to) {
    const points = new Float64Array(2 * pieces.length + 2);
    pieces.forEach((p, k) => { points[2 * k] = p.from; points[2 * k + 1] = p.to; });
    points[points.length - 2] = from; points[points.length - 1] = to;
    points.sort();
    let busy = 0, next = 0, open = [];
    for (let k = 0; k + 1 < points.length; k++) {
      const begin = points[k], long = points[k + 1] - begin;
      if (!long) continue;
      open = open.filter((p) => p.to > begin);
      while (next < pieces.length && pieces[next].from <= begin) { if (pieces[next].to > begin) open.push(pieces[next]); next++; }
      let idle = 1;
      for (const p of open) idle *= 1 - p.share;
      busy += long * (1 - idle);
    }
    return busy;
  }

  function timelineMeasure(model, line, ask) {
    const { duration, element } = TV;
    const said = element("span", { role: "status", "aria-live": "polite" }), clear = element("button", { type: "button", textContent: "Clear", title: "Key Escape", hidden: true });
    const state = { from: null, to: null };
    line.append(said, " ", clear);
    clear.onclick = () => { reset(); line.dispatchEvent(new Event("cleared")); };

    /* Busy time of each device between two times: {owner, busy, exact}. */
    function busy(from, to) {
      const owners = new Map();
      for (const lane of model.lanes) if (lane.device && lane.rows) (owners.get(lane.owner) || owners.set(lane.owner, []).get(lane.owner)).push(lane);
      return [...owners].map(([owner, lanes]) => {
        const pieces = [];
        let exact = model.whole;
        for (const lane of lanes) for (let r = lane.first; r < lane.first + lane.rows; r++) {
          const stop = model.offset[r + 1];
          for (let i = Math.max(model.offset[r], model.search(model.offset[r], stop, from) - 1); i < stop && model.start[i] < to; i++) {
            if (model.end[i] <= from) continue;
            if (model.block[i] >= 0) exact = false;
            pieces.push({ from: Math.max(from, model.start[i]), to: Math.min(to, model.end[i]), share: model.share(i) });
          }
        }
        pieces.sort((a, b) => a.from - b.from);
        return { owner, busy: covered(pieces, from, to), exact };
      });
    }
    function share(found, long) {
      const percent = ((100 * found.busy) / long).toFixed(1) + " %";
      return found.exact ? found.owner + " busy " + percent + " of it (" + duration(found.busy) + ", exact)" : found.owner + " busy about " + percent + " of it (estimate: " + (model.whole ? "it holds merged slices" : "not all device work is drawn exactly") + ")";
    }
    const between = () => [Math.min(state.from, state.to), Math.max(state.from, state.to)];
    /* Say what is measured; a drag is drawn on its way and told at its end. */
    function tell() {
      clear.hidden = state.from === null;
      if (state.from === null) said.textContent = "";
      else if (state.to === null) said.textContent = "First point at " + model.at(state.from) + ". Set the second one.";
      else {
        const [a, b] = between(), parts = [duration(b - a) + " from " + model.at(a, b - a) + " to " + model.at(b, b - a)];
        if (b > a) for (const found of busy(a, b)) parts.push(share(found, b - a));
        said.textContent = parts.join("  ·  ");
      }
      ask();
    }
    function inside(time) { return Math.round(Math.max(0, Math.min(model.span, time))); }
    function drag(from, to, done) {
      state.from = inside(from); state.to = inside(to);
      if (done) tell(); else ask();
    }
    /* The first point, or the second one where there is a first. */
    function point(time) {
      if (state.from === null || state.to !== null) { state.from = inside(time); state.to = null; } else state.to = inside(time);
      tell();
    }
    function reset() { state.from = state.to = null; tell(); }
    function paint(pen, place, range) {
      if (state.from === null) return;
      const { label, width, colours } = place, tall = place.height - place.top;
      pen.save();
      pen.beginPath(); pen.rect(label, place.top, width - label, tall); pen.clip();
      const a = place.toX(state.from, range), b = state.to === null ? a : place.toX(state.to, range), x = Math.min(a, b), wide = Math.abs(b - a);
      pen.fillStyle = colours.fg; pen.globalAlpha = 0.1; pen.fillRect(x, place.top, wide, tall);
      pen.globalAlpha = 1; pen.fillRect(a - 0.75, place.top, 1.5, tall);
      if (state.to !== null) {
        pen.fillRect(b - 0.75, place.top, 1.5, tall);
        const text = duration(Math.abs(state.to - state.from)), room = pen.measureText(text).width, left = Math.max(x, label), right = Math.min(x + wide, width);
        if (left > right) { pen.restore(); return; } // nothing of it is in view
        const at = Math.max(label + 4, Math.min(width - room - 6, (left + right - room) / 2));
        pen.fillRect(x, place.top + 9, wide, 1);
        pen.fillStyle = colours.bg; pen.fillRect(at - 4, place.top + 2, room + 8, 15);
        pen.fillStyle = colours.fg; pen.fillText(text, at, place.top + 13);
      }
      pen.restore();
    }
    return { busy, drag, point, reset, paint, state, get open() { return state.from !== null; }, get waits() { return state.from !== null && state.to === null; } };
  }
  TV.timelineMeasure = timelineMeasure;
})();

/* traceview timeline, model: the decoded slices and the geometry of lanes. Exposes TV.timelineModel(view, columns).
   Item i lies in row r when offset[r] <= i < offset[r + 1]; start and end are ns from the trace's first slice, drawn or not, in whole units
   of `unit` ns (a power of two: products and differences are exact); span is the whole trace. Of two traces (layout.sides)
   timeline-sides.js moves the times. */
(function () {
  "use strict";
  const BLOCK = 0x8000;
  const CHUNK = 64; // items of which the longest is known
  const unfold = (v) => (v % 2 ? -(v + 1) / 2 : v / 2);

  function timelineModel(view, columns) {
    const n = view.layout.items, rows = view.layout.rows, offset = new Int32Array(rows.length + 1), unit = view.layout.unit;
    const start = new Float64Array(n), end = new Float64Array(n), entry = new Uint16Array(n), block = new Int32Array(n).fill(-1);
    const busyBefore = new Float64Array(n + 1); // ns of all items before one, by number: what a pixel covers is a difference
    const sizes = new Float32Array(n), longest = new Int32Array(Math.ceil(n / CHUNK)); // by item, rounded; the longest by chunk
    const { gap, length, entry: coded, busy, number } = columns;
    let i = 0, blocks = 0, span = Math.max(1, view.layout.span), long = -1;
    rows.forEach((count, r) => {
      let at = 0;
      for (let k = 0; k < count; k++, i++) {
        const size = length[i] * unit;
        at += gap[i];
        start[i] = at * unit;
        at += length[i];
        end[i] = at * unit;
        entry[i] = coded[i] & ~BLOCK;
        if (coded[i] & BLOCK) { busyBefore[i + 1] = busyBefore[i] + (size * busy[blocks]) / 255; block[i] = blocks++; } else busyBefore[i + 1] = busyBefore[i] + size;
        if (i % CHUNK === 0) long = -1;
        sizes[i] = size;
        if (size > long) { long = size; longest[(i / CHUNK) | 0] = i; }
      }
      offset[r + 1] = i;
      span = Math.max(span, at * unit);
    });
    const lanes = view.lanes, laneOf = new Int32Array(rows.length);
    lanes.forEach((lane, k) => laneOf.fill(k, lane.first, lane.first + lane.rows));

    /* First item of [from, to) that starts at or after time. */
    function search(from, to, time) {
      while (from < to) { const m = (from + to) >> 1; if (start[m] < time) from = m + 1; else to = m; }
      return from;
    }
    /* The same, quick where it is near. */
    function after(from, to, time) {
      let step = 1;
      while (from + step < to && start[from + step] < time) step *= 2;
      return search(from + (step >> 1), Math.min(to, from + step), time);
    }
    /* The longest item of [from, to), the first of equals. */
    function longestOf(from, to) {
      let best = from, size = sizes[from];
      for (let k = from + 1; k < to;) {
        const whole = k % CHUNK === 0 && k + CHUNK <= to, c = whole ? longest[k / CHUNK] : k;
        if (sizes[c] > size) { best = c; size = sizes[c]; }
        k += whole ? CHUNK : 1;
      }
      return best;
    }
    function rowOf(item) {
      let low = 0, high = rows.length;
      while (low < high - 1) { const m = (low + high) >> 1; if (offset[m] <= item) low = m; else high = m; }
      return low;
    }
    /* The item of a row that holds a time, -1 where none does. */
    function holds(r, time) {
      const i = search(offset[r], offset[r + 1], time + unit / 2) - 1;
      return i >= offset[r] && time <= end[i] ? i : -1;
    }
    /* Lines by lane: {time, depth, merged}; a point holds until the next, of a merged one the depth is the most until then. */
    const lines = lanes.map((lane) => {
      if (!lane.points) return null;
      const [first, count] = lane.points, time = new Float64Array(count), coded = columns.line_depth.slice(first, first + count);
      for (let k = 0, at = 0; k < count; k++) time[k] = (at += columns.line_gap[first + k]) * unit;
      const depth = coded.map((v) => v >>> 1), merged = Uint8Array.from(coded, (v) => v & 1);
      return { time, depth, merged, most: depth.reduce((a, b) => Math.max(a, b), 1) };
    });
    const steps = [], sides = view.layout.sides;
    for (let k = 0, at = 0; k < (columns.step_gap || []).length; k++) {
      const side = sides && k >= sides.steps[0] ? 1 : 0;
      if (sides && k === sides.steps[0]) at = 0; // each side begins anew
      at += columns.step_gap[k];
      steps.push({ number: unfold(columns.step_number[k]), from: at * unit, long: columns.step_length[k] * unit, side });
    }
    return {
      anchor: 0, at(time, apart) { return TV.duration(time - this.anchor, this.span, apart); }, // how a time is told: from the anchor on
      items: n, unit, offset, start, end, entry, block, span, lanes, laneOf, lines, steps, busyBefore, search, after, longestOf, rowOf, holds, number, busy,
      name: (item) => columns.entry_name[entry[item]],
      nameOfEntry: columns.entry_name, classOfEntry: columns.entry_class, tokens: view.layout.tokens, whole: view.layout.whole && unit === 1,
      slices: (item) => (block[item] < 0 ? 1 : number[block[item]]),
      share: (item) => (block[item] < 0 ? 1 : busy[block[item]] / 255),
    };
  }
  TV.timelineModel = timelineModel;
  TV.unfold = unfold;
})();

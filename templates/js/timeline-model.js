/* traceview timeline, model: the decoded slices and the geometry of lanes. Exposes TV.timelineModel(view, columns).
   Item i lies in row r when offset[r] <= i < offset[r + 1]; start and end are ns from the trace's first slice, drawn or not, in whole units
   of `unit` ns (a power of two: products and differences are exact); span is the whole trace. */
(function () {
  "use strict";
  const BLOCK = 0x8000;

  function timelineModel(view, columns) {
    const n = view.layout.items, rows = view.layout.rows, offset = new Int32Array(rows.length + 1), unit = view.layout.unit;
    const start = new Float64Array(n), end = new Float64Array(n), entry = new Uint16Array(n), block = new Int32Array(n).fill(-1);
    let i = 0, blocks = 0, span = Math.max(1, view.layout.span);
    rows.forEach((count, r) => {
      let at = 0;
      for (let k = 0; k < count; k++, i++) {
        at += columns.gap[i];
        start[i] = at * unit;
        at += columns.length[i];
        end[i] = at * unit;
        entry[i] = columns.entry[i] & ~BLOCK;
        if (columns.entry[i] & BLOCK) block[i] = blocks++;
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
    function rowOf(item) {
      let low = 0, high = rows.length;
      while (low < high - 1) { const m = (low + high) >> 1; if (offset[m] <= item) low = m; else high = m; }
      return low;
    }
    return {
      items: n, unit, offset, start, end, entry, block, span, lanes, laneOf, search, rowOf,
      number: columns.number, busy: columns.busy,
      name: (item) => columns.entry_name[entry[item]],
      nameOfEntry: columns.entry_name, classOfEntry: columns.entry_class, tokens: view.layout.tokens,
      slices: (item) => (block[item] < 0 ? 1 : columns.number[block[item]]),
      share: (item) => (block[item] < 0 ? 1 : columns.busy[block[item]] / 255),
    };
  }
  TV.timelineModel = timelineModel;
})();

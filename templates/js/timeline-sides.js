/* traceview timeline, sides: two traces in one canvas, shifted so that a pair of their moments is at the same place.
   Exposes TV.timelineSides(model, view, moved), which is null for one trace. align(k) takes the k-th pair (of view.windows); all times
   of the model move with it, and moved() is called for what holds times of its own. */
(function () {
  "use strict";
  function timelineSides(model, view, moved) {
    const sides = view.layout.sides;
    if (!sides) return null;
    const shift = [0, 0], rows = [[], []];
    model.lanes.forEach((lane, k) => { for (let r = lane.first; r < lane.first + lane.rows; r++) rows[sides.lanes[k]].push(r); });

    function move(side, by) {
      if (!by) return;
      for (const r of rows[side]) for (let i = model.offset[r]; i < model.offset[r + 1]; i++) { model.start[i] += by; model.end[i] += by; }
      model.lines.forEach((line, k) => { if (line && sides.lanes[k] === side) for (let i = 0; i < line.time.length; i++) line.time[i] += by; });
      for (const step of model.steps) if (step.side === side) step.from += by;
    }
    function align(k) {
      const pair = sides.pairs[k], anchor = Math.max(...pair);
      if (model.pair === k) return;
      pair.forEach((at, side) => { move(side, anchor - at - shift[side]); shift[side] = anchor - at; });
      model.pair = k;
      model.anchor = anchor;
      model.span = Math.max(1, ...sides.spans.map((long, side) => long + shift[side]));
      moved();
    }
    return { align, names: sides.names };
  }
  TV.timelineSides = timelineSides;
})();

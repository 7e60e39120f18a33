/* traceview timeline, arrows: from the launch of the chosen slice to what it started, or the other way round.
   Exposes TV.timelineArrows(model, links). An end out of view has a marker at the edge that says how far away it is and leads there. */
(function () {
  "use strict";
  const HEAD = 5, NEAR = 12, HEIGHT = 15; // CSS pixels: an arrow's head, how near a pointer must be to a marker, its text

  function timelineArrows(model, links) {
    let ends = null;
    const drawn = { lines: 0, marks: [] };

    function choose(item) { ends = links.ends(item); }
    function top(place, item, lane) { return item >= 0 ? place.rowTop[model.rowOf(item)] : place.laneTop[lane]; }

    /* From (x, y) to (right, below): a curve with a head; dashed where its launch is not drawn as a slice of its own. */
    function curve(pen, from, to) {
      const bend = Math.max(12, Math.abs(to.x - from.x) / 3);
      pen.beginPath(); pen.moveTo(from.x, from.y);
      pen.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x - HEAD, to.y);
      pen.stroke(); pen.setLineDash([]);
      pen.beginPath(); pen.moveTo(to.x, to.y); pen.lineTo(to.x - HEAD - 2, to.y - HEAD + 1); pen.lineTo(to.x - HEAD - 2, to.y + HEAD - 1); pen.closePath(); pen.fill();
    }
    /* An end out of view: a triangle at the edge, and a text where none stands at that edge yet. */
    function mark(pen, place, side, y, item, text) {
      const x = side < 0 ? place.label + 2 : place.width - 2, said = !drawn.marks.some((m) => m.side === side);
      if (drawn.marks.some((m) => m.side === side && m.y === y)) return;
      drawn.marks.push({ x, y, side, item, text: said ? text : "" });
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x - side * 7, y - 6); pen.lineTo(x - side * 7, y + 6); pen.closePath(); pen.fill();
      if (!said) return;
      const wide = pen.measureText(text).width, at = side < 0 ? x + 11 : x - 11 - wide;
      pen.fillStyle = place.colours.bg; pen.fillRect(at - 3, y - HEIGHT / 2, wide + 6, HEIGHT);
      pen.fillStyle = place.colours.accent; pen.fillText(text, at, y + 4);
    }
    function paint(pen, place, range) {
      drawn.lines = 0; drawn.marks = [];
      if (!ends || (ends.launch.item < 0 && ends.launch.lane < 0)) return;
      const { label, width, bar } = place, launch = ends.launch, whole = width - label;
      pen.save();
      pen.beginPath(); pen.rect(label, place.top, whole, place.height - place.top); pen.clip();
      pen.strokeStyle = pen.fillStyle = place.colours.accent; pen.lineWidth = 1.6;
      const side = (x) => (x < label ? -1 : x > width ? 1 : 0), within = (x) => Math.max(label + 3, Math.min(width - 3, x));
      const a = place.toX(launch.time, range), y1 = top(place, launch.item, launch.lane) + bar / 2;
      for (const item of ends.records) {
        const b = place.toX(model.start[item], range), y2 = top(place, item) + bar / 2, away = TV.duration(Math.abs(model.start[item] - launch.time));
        if (side(a) === side(b) && side(a)) continue;
        pen.setLineDash(launch.item < 0 ? [4, 3] : []);
        curve(pen, { x: within(a), y: y1 }, { x: within(b), y: y2 });
        drawn.lines++;
        const many = ends.number > 1 ? ends.number.toLocaleString("en-US") + " records, the next " : "record ", after = model.start[item] >= launch.time;
        if (side(b)) mark(pen, place, side(b), y2, item, many + away + (after ? " after its launch" : " before its launch"));
        if (side(a)) mark(pen, place, side(a), y1, launch.item, "launch " + away + (after ? " earlier" : " later") + (launch.item < 0 ? ", merged" : ""));
      }
      pen.restore();
    }
    /* The item that a marker near a point leads to, -1 for none. */
    function at(x, y) {
      const found = drawn.marks.find((m) => Math.abs(m.x - x) < NEAR && Math.abs(m.y - y) < NEAR);
      return found ? found.item : -1;
    }
    return { choose, paint, at, drawn };
  }
  TV.timelineArrows = timelineArrows;
})();

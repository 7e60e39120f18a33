/* traceview timeline, rows: draws the slices of one row. Exposes TV.timelineRows(pen, model, names).
   What begins within one pixel becomes one column, coloured by its longest slice and shaded by how much all of them cover;
   sums and the longest are looked up, so the work grows with pixels, not with slices. Columns that look alike are one rectangle. */
(function () {
  "use strict";
  const SHADES = 16, HATCHED = 4; // CSS pixels from which a collective is hatched
  const WRITTEN = 30, LETTER = 5.9; // CSS pixels: the narrowest slice with text, the width of a letter

  function timelineRows(pen, model, names) {
    const { start, end, entry, block, offset, classOfEntry, nameOfEntry, busyBefore } = model;
    const hatched = model.tokens.map((token) => token === "collective");
    let colours = null, hatch = null;
    const texts = new Map(); // what fits, by name and room

    function theme(given) {
      colours = given;
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const ink = tile.getContext("2d");
      ink.strokeStyle = colours.bg; ink.globalAlpha = 0.75; ink.lineWidth = 1.4; ink.beginPath();
      for (const x of [-6, 0, 6]) { ink.moveTo(x, 6); ink.lineTo(x + 6, 0); }
      ink.stroke();
      hatch = pen.createPattern(tile, "repeat");
    }
    function box(x, top, wide, tall, kind, alpha) {
      pen.globalAlpha = alpha;
      pen.fillStyle = colours.fill[kind];
      pen.fillRect(x, top, wide, tall);
      if (hatched[kind] && wide >= HATCHED) { pen.fillStyle = hatch; pen.fillRect(x, top, wide, tall); }
    }
    function fitted(name, room) {
      const key = name * 512 + Math.min(room, 511), known = texts.get(key);
      if (known !== undefined) return known;
      if (texts.size > 20000) texts.clear();
      const text = names.label(name), cut = text.length > room ? text.slice(0, room - 1) + "…" : text;
      texts.set(key, cut);
      return cut;
    }
    function write(i, x, wide, top, tall, faint) {
      const room = ((wide - 8) / LETTER) | 0, merged = block[i] >= 0;
      if (room < 2) return;
      pen.globalAlpha = faint;
      pen.fillStyle = merged ? colours.fg : colours.on[classOfEntry[entry[i]]];
      const text = merged ? "×" + model.slices(i) : fitted(nameOfEntry[entry[i]], room);
      if (merged && text.length > room) return;
      if (!merged && hatched[classOfEntry[entry[i]]]) { // letters on stripes cannot be read
        const under = Math.min(wide, text.length * (LETTER + 0.4) + 8), ink = pen.fillStyle;
        pen.fillStyle = colours.fill[classOfEntry[entry[i]]]; pen.fillRect(x, top, under, tall); pen.fillStyle = ink;
      }
      pen.fillText(text, x + 4, top + tall - 4);
    }
    function wide(i, x, room, top, tall, faint, written) {
      const kind = classOfEntry[entry[i]];
      if (block[i] >= 0) {
        const share = model.share(i);
        box(x, top, room, tall, kind, 0.25 * faint);
        box(x, top + tall * (1 - share), room, tall * share, kind, 0.9 * faint);
      } else box(x, top, room > 3 ? room - 0.6 : room, tall, kind, faint);
      if (written && room > WRITTEN) write(i, x, room, top, tall, faint);
    }
    /* The longest item of [i, j) whose name matches, else the longest; negative (~item) where none matches. */
    function shown(i, j, match) {
      if (match) {
        let best = -1;
        for (let k = i; k < j; k++) if (match[entry[k]] && (best < 0 || end[k] - start[k] > end[best] - start[best])) best = k;
        if (best >= 0) return best;
      }
      const best = model.longestOf(i, j);
      return match ? ~best : best;
    }
    /* place: {left, right, top, tall}; match: by entry, or null. */
    function row(r, range, place, match, written) {
      const { left, right, top, tall } = place, stop = offset[r + 1], from = range.from, to = range.to, perNs = (right - left) / (to - from);
      let runFrom = 0, runTo = -1, runKind = -1, runShade = -1; // columns that look alike
      let i = Math.max(offset[r], model.search(offset[r], stop, from) - 1);
      if (i < stop && end[i] < from) i++;
      while (i < stop && start[i] < to) {
        const room = (end[i] - start[i]) * perNs;
        if (room >= 1) {
          if (runTo >= 0) { box(left + runFrom, top, runTo - runFrom, tall, runKind, runShade / SHADES); runTo = -1; }
          const x = left + Math.max(0, (start[i] - from) * perNs), reach = Math.min(right, left + (end[i] - from) * perNs);
          wide(i, x, Math.max(reach - x, 1), top, tall, match && !match[entry[i]] ? 0.16 : 1, written);
          i++;
          continue;
        }
        const column = Math.max(0, Math.floor((start[i] - from) * perNs));
        let j = model.after(i + 1, stop, from + (column + 1) / perNs);
        if (j > i + 1 && (end[j - 1] - start[j - 1]) * perNs >= 1) j--; // it begins here and is wide
        const best = shown(i, j, match), kind = classOfEntry[entry[best < 0 ? ~best : best]];
        const cover = Math.min(1, 0.25 + 0.75 * (busyBefore[j] - busyBefore[i]) * perNs);
        const shade = Math.max(1, Math.round(cover * (best < 0 ? 0.16 : 1) * SHADES));
        if (runTo === column && runKind === kind && runShade === shade) runTo = column + 1;
        else {
          if (runTo >= 0) box(left + runFrom, top, runTo - runFrom, tall, runKind, runShade / SHADES);
          runFrom = column; runTo = column + 1; runKind = kind; runShade = shade;
        }
        i = j;
      }
      if (runTo >= 0) box(left + runFrom, top, runTo - runFrom, tall, runKind, runShade / SHADES);
      pen.globalAlpha = 1;
    }
    return { row, theme };
  }
  TV.timelineRows = timelineRows;
})();

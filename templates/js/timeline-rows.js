/* traceview timeline, rows: draws the slices of rows. Exposes TV.timelineRows(pen, model, names).
   What begins within one pixel becomes one column, coloured by its longest slice and shaded by how much all of them cover;
   sums and the longest are looked up, so the work grows with pixels, not with slices. The columns of all rows are written into
   one small picture, a line of it per row, which is then stretched over the rows. */
(function () {
  "use strict";
  const HATCHED = 4; // CSS pixels from which a collective is hatched
  const WRITTEN = 30, LETTER = 5.9; // CSS pixels: the narrowest slice with text, the width of a letter
  const FAINT = 0.16; // of what a search does not match

  function timelineRows(pen, model, names) {
    const { start, end, entry, block, offset, classOfEntry, nameOfEntry, busyBefore } = model;
    const hatched = model.tokens.map((token) => token === "collective");
    const strip = document.createElement("canvas"), ink = strip.getContext("2d");
    const texts = new Map(); // what fits, by name and room
    let colours = null, hatch = null, numbers = null, picture = null, points = null, stripes = null; // points: of the picture, a number each

    /* A colour as the picture holds it: blue, green, red, without alpha. */
    function number(colour) {
      ink.fillStyle = colour;
      const hex = parseInt(ink.fillStyle.slice(1), 16);
      return ((hex & 255) << 16) | (hex & 0xff00) | (hex >> 16);
    }
    function theme(given) {
      colours = given;
      numbers = colours.fill.map(number);
      const tile = document.createElement("canvas");
      tile.width = tile.height = 6;
      const line = tile.getContext("2d");
      line.strokeStyle = colours.bg; line.globalAlpha = 0.75; line.lineWidth = 1.4; line.beginPath();
      for (const x of [-6, 0, 6]) { line.moveTo(x, 6); line.lineTo(x + 6, 0); }
      line.stroke();
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
      const room = ((wide - 8) / LETTER) | 0, merged = block[i] >= 0, kind = classOfEntry[entry[i]];
      if (room < 2) return;
      const text = merged ? "×" + model.slices(i) : fitted(nameOfEntry[entry[i]], room);
      if (merged && text.length > room) return;
      pen.globalAlpha = faint;
      if (!merged && hatched[kind]) { // letters on stripes cannot be read
        pen.fillStyle = colours.fill[kind];
        pen.fillRect(x, top, Math.min(wide, text.length * (LETTER + 0.4) + 8), tall - 3);
      }
      pen.fillStyle = merged ? colours.fg : colours.on[kind];
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
    /* Hatch what is more than a few columns of collectives side by side in a line of the picture. */
    function hatchColumns(from, wide, left, top, tall) {
      for (let x = 0, begin = -1; x <= wide; x++) {
        const held = x < wide && stripes[from + x] === 1;
        if (held && begin < 0) begin = x;
        if (!held && begin >= 0) { if (x - begin >= HATCHED) { pen.fillStyle = hatch; pen.fillRect(left + begin, top, x - begin, tall); } begin = -1; }
      }
    }

    /* One row: wide slices at once, the rest into the line of the picture that begins at `line`; returns 1 where that holds any, 3 where it is to be hatched. */
    function row(r, range, place, match, line) {
      const { left, right, top, tall, written } = place, stop = offset[r + 1], { from, to } = range, perNs = (right - left) / (to - from);
      let held = 0, i = Math.max(offset[r], model.search(offset[r], stop, from) - 1);
      if (i < stop && end[i] < from) i++;
      while (i < stop && start[i] < to) {
        const room = (end[i] - start[i]) * perNs;
        if (room >= 1) {
          const x = left + Math.max(0, (start[i] - from) * perNs), reach = Math.min(right, left + (end[i] - from) * perNs);
          wide(i, x, Math.max(reach - x, 1), top, tall, match && !match[entry[i]] ? FAINT : 1, written);
          i++;
          continue;
        }
        const column = Math.max(0, Math.floor((start[i] - from) * perNs));
        let j = model.after(i + 1, stop, from + (column + 1) / perNs);
        if (j > i + 1 && (end[j - 1] - start[j - 1]) * perNs >= 1) j--; // it begins here and is wide
        const best = shown(i, j, match), kind = classOfEntry[entry[best < 0 ? ~best : best]];
        const cover = Math.min(1, 0.25 + 0.75 * (busyBefore[j] - busyBefore[i]) * perNs) * (best < 0 ? FAINT : 1);
        points[line + column] = (Math.max(1, (cover * 255) | 0) << 24) | numbers[kind];
        held |= 1;
        if (hatched[kind]) { held = 3; stripes[line + column] = 1; }
        i = j;
      }
      return held;
    }
    /* Rows [{r, top}] of a view; place: {left, right, tall, written}; match: by entry, or null. */
    function draw(list, range, place, match) {
      const width = Math.ceil(place.right - place.left) + 1, spot = { ...place, top: 0 };
      if (!list.length || width < 2) return;
      if (!picture || picture.width !== width || picture.height < list.length) {
        strip.width = width; strip.height = list.length;
        picture = ink.createImageData(width, list.length);
        points = new Int32Array(picture.data.buffer);
        stripes = new Uint8Array(points.length);
      } else { points.fill(0); stripes.fill(0); }
      const held = list.map(({ r, top }, k) => { spot.top = top; return row(r, range, spot, match, k * width); });
      pen.globalAlpha = 1;
      ink.putImageData(picture, 0, 0);
      const smooth = pen.imageSmoothingEnabled;
      pen.imageSmoothingEnabled = false;
      list.forEach(({ top }, k) => {
        if (!held[k]) return;
        pen.drawImage(strip, 0, k, width, 1, place.left, top, width, place.tall);
        if (held[k] & 2) hatchColumns(k * width, width, place.left, top, place.tall);
      });
      pen.imageSmoothingEnabled = smooth;
    }
    return { draw, theme };
  }
  TV.timelineRows = timelineRows;
})();

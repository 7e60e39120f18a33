/* traceview timeline, input: pointer, touch, wheel and keys of the canvas, put into words of the view.
   Exposes TV.timelineInput(canvas, line); line is what timeline.js gives. Plain wheel and a finger's way up and down scroll the page
   (the canvas has touch-action: pan-y), ctrl + wheel and two fingers zoom. */
(function () {
  "use strict";
  const STILL = { mouse: 3, pen: 5, touch: 8 }; // CSS pixels that are no drag yet

  function timelineInput(canvas, line) {
    const { state, painter, measure } = line, fingers = new Map();
    const span = () => state.range.to - state.range.from, perPixel = () => span() / (painter.width - painter.label), at = (x) => painter.toTime(x, state.range);
    let held = null, pinch = null;

    function typing() {
      const here = document.activeElement;
      return !!here && (/^(INPUT|SELECT|TEXTAREA)$/.test(here.tagName) || !!here.closest("dialog"));
    }
    canvas.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
      if (/^Arrow/.test(key)) state.pointer = null; // from now on the chosen slice is where one measures
      if (line.press(key)) e.preventDefault();
    });
    document.addEventListener("keydown", (e) => {
      if ((e.key !== "/" && e.key !== "?") || typing() || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
      e.preventDefault();
      line.press(e.key);
    });
    canvas.addEventListener("wheel", (e) => {
      if (e.ctrlKey || e.metaKey) { e.preventDefault(); line.zoom(Math.pow(1.0018, e.deltaY), at(e.offsetX)); return; }
      if (!e.shiftKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return;
      e.preventDefault();
      const by = (e.deltaX || e.deltaY) * perPixel();
      line.show(state.range.from + by, state.range.to + by);
    }, { passive: false });

    function jump(x) {
      const t = ((x - painter.label) / (painter.width - painter.label)) * line.model.span, half = span() / 2;
      line.show(t - half, t + half);
    }
    /* Two fingers: what lay under them stays under them. */
    function grip() {
      const [a, b] = [...fingers.values()];
      return { apart: Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y), 20), x: (a.x + b.x) / 2 };
    }
    function squeeze() {
      const now = grip(), long = (pinch.long * pinch.apart) / now.apart;
      const from = pinch.time - ((now.x - painter.label) / (painter.width - painter.label)) * long;
      line.show(from, from + long);
    }
    canvas.addEventListener("pointerdown", (e) => {
      if (e.pointerType === "mouse" && e.button !== 0) return;
      canvas.setPointerCapture(e.pointerId);
      fingers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      if (fingers.size === 2) {
        const now = grip();
        pinch = { ...now, time: at(now.x), long: span() };
        held = null; state.drag = null;
        return;
      }
      const zone = painter.zone(e.offsetY), gauge = zone !== "mini" && (state.measuring || (e.shiftKey && zone === "rows"));
      held = { x: e.offsetX, zone: gauge ? "measure" : zone, range: state.range, moved: false, still: STILL[e.pointerType] || 3 };
      if (zone === "mini" && e.pointerType !== "touch") jump(e.offsetX); // a finger may be on its way to scroll the page
    });
    canvas.addEventListener("pointermove", (e) => {
      state.pointer = painter.zone(e.offsetY) !== "mini" && e.offsetX >= painter.label ? at(e.offsetX) : null;
      if (fingers.has(e.pointerId)) fingers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      if (pinch) { squeeze(); return; }
      if (!held) { if (e.pointerType !== "touch") line.hover(e.offsetX, e.offsetY); return; }
      held.moved = held.moved || Math.abs(e.offsetX - held.x) > held.still;
      if (!held.moved) return;
      if (held.zone === "mini") jump(e.offsetX);
      else if (held.zone === "ruler") { state.drag = [at(held.x), at(e.offsetX)]; line.ask(); }
      else if (held.zone === "measure") measure.drag(at(held.x), at(e.offsetX), false);
      else {
        line.rest();
        const by = (held.x - e.offsetX) * perPixel();
        line.show(held.range.from + by, held.range.to + by);
      }
    });
    function release(e) {
      fingers.delete(e.pointerId);
      const drag = state.drag, was = held, pinched = pinch;
      held = null; state.drag = null;
      if (pinched) { if (!fingers.size) pinch = null; return null; }
      return was && { ...was, drag };
    }
    canvas.addEventListener("pointerup", (e) => {
      const was = release(e);
      if (!was) return;
      if (was.zone === "measure") { if (was.moved) measure.drag(at(was.x), at(e.offsetX), true); else measure.point(at(e.offsetX)); }
      else if (was.drag && was.moved) line.show(Math.min(was.drag[0], was.drag[1]), Math.max(was.drag[0], was.drag[1]));
      else if (was.zone === "mini") jump(e.offsetX);
      else if (was.zone === "rows" && !was.moved) line.click(e.offsetX, e.offsetY);
      line.ask();
    });
    canvas.addEventListener("pointercancel", (e) => {
      const was = release(e);
      if (was && was.zone === "measure" && was.moved) measure.reset();
      line.ask();
    });
    canvas.addEventListener("pointerleave", () => { state.pointer = null; line.rest(); });
    canvas.addEventListener("dblclick", () => line.press("Enter"));
  }
  TV.timelineInput = timelineInput;
})();

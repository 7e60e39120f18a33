/* traceview charts: plotly figures made in Python, drawn when they come near the screen, coloured by token.
   Exposes TV.charts(list), TV.redraw(paper), TV.drawAll(paper). Labels are escaped in Python (report/figures.py). */
(function () {
  "use strict";
  const CONFIG = { responsive: true, displaylogo: false, displayModeBar: false, showSendToCloud: false, plotlyServerURL: "", doubleClick: "reset" };
  const NARROW = 520, PAPER = 640; // CSS pixels: below, short labels; the width of a chart on paper
  const drawn = new Map();
  const colour = (token) => getComputedStyle(document.documentElement).getPropertyValue("--" + token).trim();

  function skinned(figure, wide) {
    const axis = { gridcolor: colour("hair"), linecolor: colour("line"), zerolinecolor: colour("line"), automargin: true };
    const layout = Object.assign({ paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 8, r: 18, t: 8, b: 40 } }, figure.layout);
    layout.font = { color: colour("fg"), size: 12, family: "system-ui, sans-serif" };
    layout.hoverlabel = { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("fg") } };
    if (wide === PAPER) layout.width = PAPER;
    layout.xaxis = Object.assign({}, axis, figure.layout.xaxis);
    layout.yaxis = Object.assign({}, axis, figure.layout.yaxis);
    if (wide < NARROW && layout.meta && layout.meta.narrow) layout.yaxis.ticktext = layout.meta.narrow;
    const data = figure.data.map((trace) => {
      const tokens = trace.meta && trace.meta.tokens;
      if (!tokens) return trace;
      const colours = tokens.map((t) => colour("c-" + t));
      if (trace.mode === "lines") return Object.assign({}, trace, { line: Object.assign({}, trace.line, { color: colours[0] }) });
      const marker = Object.assign({}, trace.marker, { color: colours.length === 1 ? colours[0] : colours });
      if (marker.pattern) { // lines over the colour, and an edge: parts differ without their colours too
        marker.pattern = Object.assign({ fillmode: "overlay", fgcolor: colour("fg"), fgopacity: 0.55 }, marker.pattern);
        marker.line = { width: 0.6, color: colour("muted") };
      }
      return Object.assign({}, trace, { marker });
    });
    return [data, layout];
  }
  function draw(id, figure, paper) {
    const place = document.getElementById(id), [data, layout] = skinned(figure, paper ? PAPER : place.clientWidth);
    const windows = layout.meta && layout.meta.windows;
    drawn.set(id, figure);
    const done = window.Plotly.react(place, data, layout, CONFIG);
    if (windows && TV.jump && !place.classList.contains("leads")) { // a bar leads to its stretch of the timeline
      place.classList.add("leads");
      place.on("plotly_click", (e) => { const w = windows[e.points[0].pointNumber]; if (w) TV.jump(w[0], w[1]); });
    }
    /* On paper the drawing is scaled to the width of its card, which no script can know. */
    for (const svg of place.querySelectorAll(".main-svg")) {
      if (paper) svg.setAttribute("viewBox", "0 0 " + PAPER + " " + layout.height); else svg.removeAttribute("viewBox");
    }
    place.style.setProperty("--shape", PAPER + " / " + layout.height);
    return done;
  }
  function charts(list) {
    if (!window.Plotly) return;
    const waiting = new Map(list.map((c) => [c.id, c.figure]));
    if (!("IntersectionObserver" in window)) { waiting.forEach((figure, id) => draw(id, figure)); return; }
    const watch = new IntersectionObserver((entries) => {
      for (const e of entries) if (e.isIntersecting && waiting.has(e.target.id)) {
        watch.unobserve(e.target); draw(e.target.id, waiting.get(e.target.id)); waiting.delete(e.target.id);
      }
    }, { rootMargin: "300px" });
    list.forEach((c) => watch.observe(document.getElementById(c.id)));
    /* Draw again in the present colours, for paper in its width; drawAll draws those not yet seen as well. */
    TV.redraw = (paper) => drawn.forEach((figure, id) => draw(id, figure, paper));
    TV.drawAll = (paper) => { waiting.forEach((figure, id) => drawn.set(id, figure)); waiting.clear(); TV.redraw(paper); };
  }
  TV.charts = charts;
  TV.redraw = TV.drawAll = () => {};
})();

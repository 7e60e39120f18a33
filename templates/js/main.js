/* traceview main: read the page's data, start tables, timeline and charts, theme and printing. */
(async function () {
  "use strict";
  const root = document.documentElement, get = (id) => document.getElementById(id);
  const data = JSON.parse(get("tv-data").textContent);
  const button = get("tv-theme");
  function theme(name) {
    root.dataset.theme = name;
    if (TV.line) TV.line.theme();
    TV.redraw();
  }
  button.hidden = false;
  button.onclick = () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    theme(next);
    try { localStorage.setItem("traceview-theme", next); } catch (e) { /* private mode: not kept */ }
  };
  let before = "light";
  addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; if (TV.line) { TV.line.theme(); TV.line.flush(); } TV.drawAll(true); });
  addEventListener("afterprint", () => theme(before));

  if (!("DecompressionStream" in window)) {
    get("main").prepend(TV.element("p", { className: "empty", textContent: "This browser is too old for the timeline, charts and table search (it lacks DecompressionStream: Chromium 80, Firefox 113 or Safari 16.4 have it). Numbers and first rows are complete." }));
    window.TV_READY = true;
    return;
  }
  const [texts, labels] = await TV.texts(get("tv-names").textContent);
  const names = TV.names = { text: (i) => texts[i], label: (i) => labels[i] || texts[i] };
  /* Show a stretch of the trace (ns from its origin) in the timeline. */
  if (data.timeline) {
    const zero = data.timeline.layout.zero;
    TV.jump = (from, to) => { TV.line.show(from - zero, to - zero); TV.line.enter(); };
  }
  TV.tables = {};
  for (const spec of data.tables) TV.tables[spec.id] = TV.table(document.querySelector('[data-table="' + spec.id + '"]'), spec, names);
  if (data.timeline) {
    const columns = await TV.columns(data.timeline.layout.columns, get("tv-slices").textContent);
    TV.line = TV.timeline(get("tv-timeline"), data.timeline, columns, names);
    TV.find = (text) => { TV.line.find(text); TV.line.enter(document.querySelector(".tl-found").textContent); };
    /* A link to a place of the timeline, as the page opens and when its address is changed. */
    if (location.hash.startsWith("#t=")) get("timeline").scrollIntoView();
    addEventListener("hashchange", () => { if (TV.line.follow()) TV.line.enter(); });
    for (const go of document.querySelectorAll(".finding button[data-from]")) {
      go.hidden = false;
      go.onclick = () => TV.jump(+go.dataset.from, +go.dataset.to);
    }
  }
  TV.charts(data.charts);
  for (const place of document.querySelectorAll(".copyable")) {
    const press = place.querySelector("button");
    press.hidden = false;
    press.onclick = () => TV.copy(place.querySelector("code").textContent, press);
  }
  /* A link to a row of a table: in the evidence of findings, or in the address of the page. */
  const reveal = () => { const m = /^#row-([\w-]+)-(\d+)$/.exec(location.hash); if (m && TV.tables[m[1]]) TV.tables[m[1]].reveal(+m[2]); };
  for (const link of document.querySelectorAll("a[data-row]")) {
    link.href = "#row-" + link.dataset.row;
    link.onclick = () => { if (location.hash === link.hash) reveal(); };
  }
  addEventListener("hashchange", reveal);
  reveal();
  requestAnimationFrame(() => requestAnimationFrame(() => { performance.mark("tv-ready"); window.TV_READY = true; }));
})();

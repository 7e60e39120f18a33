/* traceview timeline, panel: what is told of the slice under the pointer and of the chosen one.
   Exposes TV.timelinePanel(model, columns, names, links, place); names are only ever text. */
(function () {
  "use strict";

  function timelinePanel(model, columns, names, links, place) {
    const { element, duration } = TV;

    /* {name, short, text, lane} of an item. */
    function describe(item) {
      const lane = model.lanes[model.laneOf[model.rowOf(item)]], long = model.end[item] - model.start[item], at = " at " + model.at(model.start[item], long);
      const name = names.text(model.name(item)), label = names.label(model.name(item));
      if (model.block[item] < 0) return { name, short: label, text: duration(long) + at + "  ·  " + lane.label };
      const many = model.slices(item).toLocaleString("en-US") + " slices merged, the longest: ";
      return { name, short: many + label, text: duration(long) + at + ", " + Math.round(100 * model.share(item)) + " % busy  ·  " + lane.label };
    }
    /* What holds at a time of a line: {short, text}. */
    function depth(k, time) {
      const line = model.lines[k], lane = model.lanes[k];
      let i = line.time.length;
      while (i > 0 && line.time[i - 1] > time) i--;
      const many = (i ? line.depth[i - 1] : 0).toLocaleString("en-US") + " waiting", text = lane.label + "  ·  " + lane.note;
      if (!i || !line.merged[i - 1]) return { short: many + " at " + model.at(time), text };
      const from = line.time[i - 1], to = i < line.time.length ? line.time[i] : Math.max(model.span, from);
      return { short: "at most " + many + " within this stretch (" + duration(to - from) + " from " + model.at(from, to - from) + ")", text };
    }
    function detail(item) {
      return columns.detail && columns.detail[item] ? names.text(columns.detail_name[columns.detail[item] - 1]) : "";
    }
    /* Fill the panel; `go` is called with the item of a link. */
    function fill(item, go) {
      place.replaceChildren();
      if (item < 0) return;
      const d = describe(item), link = links.about(item), lines = [...(link ? link.lines : []), detail(item)].filter(Boolean);
      if (model.block[item] >= 0) d.text = d.short + "  ·  " + d.text;
      const button = (text, title, press) => { const b = element("button", { type: "button", textContent: text, title }); b.onclick = () => press(b); place.append(b, " "); };
      place.append(element("b", { textContent: d.text }));
      if (link && link.target >= 0) button(link.to, "Key L", () => go(link.target));
      button("Copy name", "The whole name", (b) => TV.copy(d.name, b));
      button("Copy all", "Name, times and what else is told", (b) => TV.copy([d.name, d.text, ...lines].join("\n"), b));
      place.append(element("code", { textContent: d.name }));
      for (const line of lines) place.append(element("div", { className: "tl-link", textContent: line }));
    }
    return { describe, depth, fill };
  }
  TV.timelinePanel = timelinePanel;
})();

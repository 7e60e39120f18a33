/* traceview spark: a small line of the values of one row over its points, such as steps.
   Exposes TV.spark(trend, row) -> element, TV.trendText(trend, row). */
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg", WIDE = 84, HIGH = 18, TOP = 99; // view.Trend.MOST_HEIGHT

  function part(tag, attributes) {
    const e = document.createElementNS(SVG, tag);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    return e;
  }
  /* Lowest, middle and highest value in words: what the drawing says to those who do not see it. */
  function trendText(trend, row) {
    const [low, middle, high] = row.slice(0, 3).map((v) => TV.form(trend.form, v));
    return trend.points + ": min " + low + ", median " + middle + ", max " + high + " " + (trend.form === "us" ? "µs" : "ms");
  }
  function spark(trend, row) {
    const heights = row[3], text = trendText(trend, row), y = (h) => (HIGH - 1.5 - (h / TOP) * (HIGH - 3)).toFixed(1);
    const x = (i) => (1.5 + (heights.length > 1 ? (i * (WIDE - 3)) / (heights.length - 1) : (WIDE - 3) / 2)).toFixed(1);
    const svg = part("svg", { class: "spark", viewBox: "0 0 " + WIDE + " " + HIGH, width: WIDE, height: HIGH, role: "img", "aria-label": text });
    const title = part("title", {});
    title.textContent = text;
    svg.append(title, part("line", { x1: 0, x2: WIDE, y1: HIGH - 1, y2: HIGH - 1, class: "zero" }));
    if (heights.length > 1) svg.append(part("polyline", { points: heights.map((h, i) => x(i) + "," + y(h)).join(" ") }));
    else svg.append(part("circle", { cx: x(0), cy: y(heights[0]), r: 1.8 }));
    return svg;
  }
  Object.assign(TV, { spark, trendText });
})();

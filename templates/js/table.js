/* traceview table: search, sort, choose columns, page, copy as CSV. TV.table(root, spec, names) replaces the static rows in root.
   spec is view.TableView; reveal(i) of the result shows a row; names.text(i) and names.label(i) give names. Data reaches the page as text only. */
(function () {
  "use strict";
  const SIZES = [10, 25, 100, 1000], LONG = 40; // characters of a text that wants a wide column
  const AROUND = 0.15; // of a window: what is shown before and after it

  /* A text that a spreadsheet would take for a formula gets an apostrophe in front. */
  function field(value) {
    const text = /^[=+@\t\r-]/.test(value) && isNaN(value) ? "'" + value : value;
    return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }
  /* What a filter asks for: words anywhere in a row, or an expression between slashes that one text of the row holds (its ends
     are ^ and $); null where it cannot be read. */
  function matcher(query, cells, haystack) {
    const asked = query.trim(), between = /^\/(.+)\/$/.exec(asked);
    if (!asked) return () => true;
    if (between) try { const test = TV.expression(between[1]); return (i) => cells[i].some(test); } catch (e) { return null; }
    const words = asked.toLowerCase().split(/\s+/);
    return (i) => words.every((w) => haystack[i].includes(w));
  }
  /* A cell with a name, which opens to the full one. */
  function nameCell(index, names) {
    const { element } = TV;
    const cell = element("td", { className: "name" }), button = element("button", { type: "button", textContent: names.label(index), title: names.text(index), "aria-expanded": "false" });
    button.onclick = () => {
      const open = cell.querySelector(".more");
      button.setAttribute("aria-expanded", String(!open));
      if (open) { open.remove(); return; }
      const copy = element("button", { type: "button", textContent: "Copy name" });
      copy.onclick = () => TV.copy(names.text(index), copy);
      const more = element("div", { className: "more" }, element("code", { textContent: names.text(index) }), copy);
      if (TV.find) { const find = element("button", { type: "button", textContent: "Find in timeline" }); find.onclick = () => TV.find(names.text(index)); more.append(find); }
      cell.append(more);
    };
    cell.append(button);
    return cell;
  }
  /* A button that shows the window of a row in the timeline, with a little around it. */
  function showCell([from, to], what) {
    const button = TV.element("button", { type: "button", textContent: "Show", title: "Show " + what + " in the timeline", "aria-label": "Show " + what + " in the timeline" });
    Object.assign(button.dataset, { from, to });
    button.onclick = () => { const around = Math.max((to - from) * AROUND, 1); TV.jump(from - around, to + around); };
    return button;
  }

  function table(root, spec, names) {
    const { element, form, exact, size: bulk } = TV, columns = spec.columns, rows = spec.rows, trend = spec.trend;
    const numeric = columns.map((c) => c.form !== "name" && c.form !== "text");
    const shown = (row, j) => (columns[j].form === "name" ? names.label(row[j]) : row[j]);
    const full = (row, j) => (columns[j].form === "name" ? names.text(row[j]) : row[j]);
    const cells = rows.map((r) => columns.flatMap((c, j) => (numeric[j] ? [] : c.form === "name" ? [names.label(r[j]), names.text(r[j])] : [r[j]])));
    const haystack = cells.map((texts) => texts.join(" ").toLowerCase());
    const most = columns.map((c, j) => (c.bar ? rows.reduce((m, r) => Math.max(m, bulk(c.form, r[j] || 0)), 0) : 0));
    const jumps = TV.jump && spec.windows.some((w) => w), TREND = columns.length; // its place in the chooser
    const state = { sort: spec.sort, down: numeric[spec.sort] && spec.sort > 0, query: "", page: 0, size: spec.page, shown: -1, columns: [...columns.map((c) => !c.hidden), true] };
    let view = [], wait = 0;

    const search = element("input", { type: "search", placeholder: "Filter: words or /regex/", "aria-label": "Filter " + spec.noun });
    const count = element("span", { "aria-live": "polite" });
    const size = element("select", { "aria-label": "Rows per page" }, ...[...new Set([...SIZES, spec.page])].sort((a, b) => a - b).map((n) => element("option", { value: n, textContent: n + " rows", selected: n === state.size })));
    const csv = element("button", { type: "button", textContent: "Copy CSV" });
    const choose = TV.chooser(spec.noun, [...columns.map((c) => c.label), trend ? trend.label : undefined], state.columns, (j, on) => { state.columns[j] = on; paint(); });
    const head = element("tr"), body = element("tbody"), pages = element("div", { className: "tools" });
    const heads = columns.map((c, j) => {
      const button = element("button", { type: "button", textContent: c.label, title: c.meaning || "" });
      button.onclick = () => { state.down = state.sort === j ? !state.down : numeric[j]; state.sort = j; state.page = 0; run(); };
      return element("th", { scope: "col", className: numeric[j] ? "num" : "" }, button);
    });
    /* The pager's buttons stay, and stay in the order of the focus where they have nowhere to turn to. */
    const turn = (text, by) => { const b = element("button", { type: "button", textContent: text }); b.onclick = () => { if (b.getAttribute("aria-disabled") === "false") { state.page += by; paint(); } }; return b; };
    const before = turn("‹ Previous", -1), after = turn("Next ›", 1), place = element("span", { "aria-live": "polite" });
    pages.append(before, place, after);
    const trendHead = trend && element("th", { scope: "col", textContent: trend.label, title: trend.meaning });
    const showHead = element("td", { className: "show" });
    const grid = element("table", {}, element("caption", { className: "hidden", textContent: spec.noun }), element("thead", {}, head), body);
    const note = spec.others ? [element("p", { className: "note", textContent: spec.others })] : [];
    const base = spec.base ? [element("p", { className: "note base", textContent: spec.base })] : [];
    const printed = element("p", { className: "printed" });
    const tools = element("div", { className: "tools" }, search, count, element("span", { className: "space" }), size, choose, csv);
    root.replaceChildren(...base, tools, element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Table of " + spec.noun }, grid), pages, printed, ...note);
    if (rows.length <= 10) { search.hidden = size.hidden = count.hidden = true; }
    if (columns.length < 5 && !trend && columns.every((c) => !c.hidden)) choose.hidden = true; // too few to choose from

    function compare(x, y) {
      const j = state.sort, a = shown(rows[x], j), b = shown(rows[y], j);
      if (a === null || b === null) return (a === null) - (b === null) || x - y; // unknown values stay last
      const d = numeric[j] ? bulk(columns[j].form, a) - bulk(columns[j].form, b) : a < b ? -1 : a > b ? 1 : 0;
      return (state.down ? -d : d) || x - y;
    }
    function run() {
      const wanted = matcher(state.query, cells, haystack);
      state.invalid = !wanted;
      search.setAttribute("aria-invalid", String(state.invalid));
      view = wanted ? rows.map((_, i) => i).filter(wanted).sort(compare) : [];
      paint();
    }
    function cell(row, j) {
      const c = columns[j], value = row[j];
      if (c.form === "name") return nameCell(value, names);
      if (c.form === "text") return element("td", { textContent: value, className: value.length > LONG ? "long" : "" });
      const turn = c.form.startsWith("change_") && value ? (value > 0 ? " rise" : " fall") : "";
      const td = element("td", { className: (c.bar ? "num barred" : "num") + turn, textContent: form(c.form, value) });
      if (c.bar) td.style.setProperty("--w", (most[j] ? (100 * bulk(c.form, value || 0)) / most[j] : 0).toFixed(2) + "%");
      return td;
    }
    const chosen = () => columns.map((_, j) => j).filter((j) => state.columns[j]);
    function line(i) {
      const cells = chosen().map((j) => cell(rows[i], j));
      if (trend && state.columns[TREND]) cells.push(element("td", { className: "trend" }, ...(trend.rows[i] ? [TV.spark(trend, trend.rows[i])] : [])));
      if (jumps) cells.push(element("td", { className: "show" }, ...(spec.windows[i] ? [showCell(spec.windows[i], spec.shows)] : [])));
      return element("tr", { id: "row-" + spec.id + "-" + i, className: i === state.shown ? "shown" : "" }, ...cells);
    }
    function paint() {
      const last = Math.max(1, Math.ceil(view.length / state.size));
      state.page = Math.min(state.page, last - 1);
      const part = view.slice(state.page * state.size, (state.page + 1) * state.size);
      heads.forEach((th, j) => th.setAttribute("aria-sort", j !== state.sort ? "none" : state.down ? "descending" : "ascending"));
      const titles = [...chosen().map((j) => heads[j]), ...(trend && state.columns[TREND] ? [trendHead] : []), ...(jumps ? [showHead] : [])];
      if (titles.length !== head.children.length || titles.some((e, k) => e !== head.children[k])) head.replaceChildren(...titles); // put in anew they lose the focus
      body.replaceChildren(...part.map(line));
      if (!part.length) body.append(element("tr", {}, element("td", { colSpan: head.children.length, className: "nothing", textContent: (state.invalid ? "Invalid expression between the slashes." : "Nothing matches.") + " Clear the filter to see all " + rows.length + "." })));
      const all = rows.length.toLocaleString("en-US");
      count.textContent = state.invalid ? "invalid expression" : (view.length === rows.length ? all : view.length.toLocaleString("en-US") + " of " + all) + " " + spec.noun;
      printed.textContent = part.length < rows.length ? part.length.toLocaleString("en-US") + " of " + all + " " + spec.noun + " shown" + (state.query.trim() ? ", filtered by “" + state.query.trim() + "”." : ".") : "";
      pages.hidden = last < 2;
      place.textContent = "Page " + (state.page + 1) + " of " + last;
      before.setAttribute("aria-disabled", String(!state.page));
      after.setAttribute("aria-disabled", String(state.page === last - 1));
    }
    /* Turn to the page that holds a row, mark it, and go there: what a link #row-TABLE-NUMBER asks for. */
    function reveal(i) {
      if (!rows[i]) return;
      clearTimeout(wait);
      state.query = search.value = ""; state.shown = i;
      run();
      state.page = Math.floor(view.indexOf(i) / state.size);
      paint();
      const row = document.getElementById("row-" + spec.id + "-" + i);
      row.tabIndex = -1; row.focus({ preventScroll: true }); row.scrollIntoView({ block: "center" });
    }
    /* The rows that match, all of them, in the columns that are shown. */
    function asCsv() {
      const wanted = chosen(), lines = [wanted.map((j) => field(columns[j].label))];
      for (const i of view) lines.push(wanted.map((j) => field(numeric[j] ? exact(columns[j].form, rows[i][j]) : String(full(rows[i], j)))));
      return lines.map((l) => l.join(",")).join("\n");
    }
    search.oninput = () => { clearTimeout(wait); wait = setTimeout(() => { state.query = search.value; state.page = 0; run(); }, 80); };
    size.onchange = () => { state.size = +size.value; state.page = 0; paint(); };
    csv.onclick = () => TV.copy(asCsv(), csv);
    run();
    return { asCsv, reveal };
  }
  TV.table = table;
})();

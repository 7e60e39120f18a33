/* traceview timeline, find: slices whose name or label holds a text, counted, dimmed around, walked over.
   Exposes TV.timelineFind(model, names, input, found, fit, ask). */
(function () {
  "use strict";

  function timelineFind(model, names, input, found, fit, ask) {
    const state = { match: null, matches: [], at: -1 };
    const said = (n) => n.toLocaleString("en-US");

    function search(text) {
      const wanted = text.trim().toLowerCase();
      state.match = null; state.matches = []; state.at = -1; found.textContent = "";
      if (wanted) {
        const match = new Uint8Array(model.nameOfEntry.length), known = new Map();
        const holds = (name) => names.text(name).toLowerCase().includes(wanted) || names.label(name).toLowerCase().includes(wanted);
        for (let e = 0; e < match.length; e++) {
          const name = model.nameOfEntry[e];
          if (!known.has(name)) known.set(name, holds(name));
          match[e] = known.get(name) ? 1 : 0;
        }
        let exact = 0, merged = 0; // of a block only the longest slice's name is known
        for (let i = 0; i < model.items; i++) if (match[model.entry[i]]) { state.matches.push(i); if (model.block[i] < 0) exact++; else merged++; }
        state.match = match;
        found.textContent = (exact || merged ? said(exact) + " slices" : "no slice") + (merged ? " and " + said(merged) + " blocks" : "") + " match";
      }
      ask();
    }
    /* The next match in any row, round and round; with step -1 the one before. */
    function walk(step) {
      const number = state.matches.length;
      if (!number) return;
      state.at = state.at < 0 && step < 0 ? number - 1 : (state.at + step + number) % number;
      fit(state.matches[state.at]);
      found.textContent = said(state.at + 1) + " of " + said(number);
    }
    /* The first match, where none is in view. */
    function bring(range) {
      if (!state.matches.some((i) => model.start[i] < range.to && model.end[i] > range.from)) walk(1);
    }
    input.addEventListener("input", () => search(input.value));
    return { state, search: (text) => { input.value = text; search(text); }, walk, bring };
  }
  TV.timelineFind = timelineFind;
})();

/* traceview timeline, links: who launched a slice of device work, and what a launch started (report/origins.py is the
   other side). Exposes TV.timelineLinks(model, columns, names). Only exact slices have links. */
(function () {
  "use strict";
  const NO_DELAY = 1, WHOLE_LATENCY = 2, DELAY = 3, unfold = TV.unfold;
  const MOST = 24; // arrows of one launch

  function timelineLinks(model, columns, names) {
    const items = new Int32Array(columns.origin ? columns.origin.length : 0); // the item of each record
    let n = 0;
    if (items.length) for (const lane of model.lanes) {
      if (!lane.device) continue;
      for (let i = model.offset[lane.first]; i < model.offset[lane.first + lane.rows]; i++) if (model.block[i] < 0) items[n++] = i;
    }
    let ids = null, started = null;
    const latencyOf = (k) => unfold(columns.latency[k]) * model.unit;
    const began = (k) => model.start[items[k]] - latencyOf(k);
    const laneOf = (k) => columns.origin_lane[columns.origin[k] - 1] - 1;

    const moved = () => { started = null; };
    /* Place of an item among the records, -1 for other slices. */
    function recordOf(item) {
      let low = 0, high = n;
      while (low < high) { const m = (low + high) >> 1; if (items[m] < item) low = m + 1; else high = m; }
      return low < n && items[low] === item ? low : -1;
    }
    /* The drawn slice of the call that launched a record, -1 where it is merged into a block or hidden. */
    function launchOf(k) {
      const lane = model.lanes[laneOf(k)], time = began(k), call = columns.origin_call[columns.origin[k] - 1];
      if (!lane) return -1;
      for (let r = lane.first; r < lane.first + lane.rows; r++) {
        const stop = model.offset[r + 1];
        for (let i = model.search(model.offset[r], stop, time); i < stop && model.start[i] === time; i++) {
          if (model.block[i] < 0 && model.name(i) === call) return i;
        }
      }
      return -1;
    }
    /* Records by launch, made when first asked for: lane -> start of the call -> {first, number}. */
    function launches() {
      if (started) return started;
      started = new Map();
      for (let k = 0; k < n; k++) {
        if (!columns.origin[k] || laneOf(k) < 0) continue;
        const lane = laneOf(k), time = began(k), here = started.get(lane) || started.set(lane, new Map()).get(lane);
        const found = here.get(time);
        if (!found) here.set(time, { first: items[k], number: 1, call: columns.origin_call[columns.origin[k] - 1] });
        else { found.number++; if (model.start[items[k]] < model.start[found.first]) found.first = items[k]; }
      }
      return started;
    }
    function correlation(k) {
      if (!ids) {
        ids = new Float64Array(n).fill(-1);
        for (let i = 0, at = 0; i < n; i++) if (columns.launched[i]) ids[i] = at += unfold(columns.launched[i] - 1);
      }
      return ids[k];
    }
    /* What to say about a record: lines of text, and the item to go to. */
    function record(k) {
      const { duration } = TV, lines = [], origin = columns.origin[k] - 1;
      const target = origin < 0 ? -1 : launchOf(k);
      if (origin < 0) lines.push("No launch in the trace.");
      else {
        const op = columns.origin_op[origin];
        lines.push("Launched by " + names.label(columns.origin_call[origin]) + (op ? " in " + names.label(op - 1) : "") + " on " + names.text(columns.origin_thread[origin]) + (target < 0 ? " (the call is not drawn as a slice of its own)" : ""));
        const latency = latencyOf(k), delay = columns.delay[k];
        if (delay && latency >= 0) {
          const long = target < 0 ? (columns.call[k] - 1) * model.unit : model.end[target] - model.start[target], queued = latency - long;
          lines.push("launch latency " + duration(latency) + "  ·  queue delay " + (queued < 0 ? "none, it started during the call" : duration(queued)) + "  ·  start delay " + (delay === NO_DELAY ? "none, the stream's first" : duration(delay === WHOLE_LATENCY ? latency : (delay - DELAY) * model.unit)));
        } else if (latency < 0) lines.push("It starts before its launch began: clock skew, no delays.");
        else {
          const here = laneOf(k) < 0 ? null : launches().get(laneOf(k)).get(began(k));
          lines.push("begins " + duration(latency) + " after its call began" + (here && here.first !== items[k] ? "; delays are told of the first record of a launch" : "; delays are told of kernels and graphs"));
        }
      }
      if (correlation(k) >= 0) lines.push("correlation " + correlation(k));
      return { lines, target, to: "Go to launch" };
    }
    /* The launch found at an item: {first, number, call}, undefined for others. */
    function launchAt(item) {
      if (!n) return undefined;
      const here = launches().get(model.laneOf[model.rowOf(item)]), found = here && here.get(model.start[item]);
      return found && found.call === model.name(item) ? found : undefined;
    }
    /* {lines, target, to} of any exact slice that has a link, else null. */
    function about(item) {
      if (item < 0 || model.block[item] >= 0) return null;
      const k = recordOf(item);
      if (k >= 0) return record(k);
      const found = launchAt(item);
      if (!found) return null;
      const text = found.number > 1 ? found.number.toLocaleString("en-US") + " records drawn as slices of their own" + (found.number > MOST ? " (arrows to the first " + MOST + ")" : "") + ", the first: " : "Started ";
      return { lines: [text + names.label(model.name(found.first)) + " after " + TV.duration(model.start[found.first] - model.start[item])], target: found.first, to: "Go to first record" };
    }
    /* Both ends of a link: {launch: {item (-1: not drawn), lane, time}, records: items by start, at most MOST, number: of all}. */
    function ends(item) {
      if (item < 0 || model.block[item] >= 0) return null;
      const k = recordOf(item);
      if (k >= 0) return columns.origin[k] ? { launch: { item: launchOf(k), lane: laneOf(k), time: began(k) }, records: [item], number: 1 } : null;
      const found = launchAt(item), lane = found && model.laneOf[model.rowOf(item)], records = [];
      if (!found) return null;
      for (let i = 0; i < n; i++) if (columns.origin[i] && laneOf(i) === lane && began(i) === model.start[item]) records.push(items[i]);
      records.sort((a, b) => model.start[a] - model.start[b]);
      return { launch: { item, lane, time: model.start[item] }, records: records.slice(0, MOST), number: records.length };
    }
    return { about, ends, moved, MOST };
  }
  TV.timelineLinks = timelineLinks;
})();

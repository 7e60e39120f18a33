/* traceview timeline, help: the dialog that lists every key and gesture. Exposes TV.timelineHelp(keys) -> {dialog, open}. */
(function () {
  "use strict";
  const GESTURES = [
    ["Drag", "pan"], ["Drag the ruler", "zoom to a stretch"], ["Shift + drag", "measure"], ["Click", "choose a slice"], ["Double click", "zoom to a slice"], ["Click the overview", "go there"],
    ["Ctrl + wheel", "zoom at the pointer"], ["Shift + wheel", "pan"], ["Wheel", "scroll the page"], ["One finger", "pan sideways; up and down scrolls the page"], ["Two fingers", "zoom"],
  ];

  /* keys: [[key, …], what it does] */
  function timelineHelp(keys) {
    const { element } = TV, close = element("button", { type: "button", textContent: "Close" });
    const table = (caption, rows) => element("table", {}, element("caption", { textContent: caption }), element("tbody", {}, ...rows));
    const line = (head, text) => element("tr", {}, element("th", { scope: "row" }, ...head), element("td", { textContent: text }));
    const caps = (list) => list.flatMap((k, i) => [...(i ? [" "] : []), element("kbd", { textContent: k })]);
    const dialog = element("dialog", { className: "tl-keys", "aria-labelledby": "tl-keys-title" },
      element("div", { className: "tl-keys-head" }, element("h3", { id: "tl-keys-title", textContent: "Keys and gestures of the timeline" }), close),
      table("Keys, while the timeline has the focus (/ and ? from anywhere)", keys.map(([list, text]) => line(caps(list), text))),
      table("Pointer and touch", GESTURES.map(([head, text]) => line([head], text))));
    close.onclick = () => dialog.close();
    dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
    return { dialog, open: () => { if (!dialog.open) dialog.showModal(); } };
  }
  TV.timelineHelp = timelineHelp;
})();

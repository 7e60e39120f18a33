/* traceview chooser: which columns of a table are shown. Nothing is remembered.
   Exposes TV.chooser(noun, labels, shown, change) -> element; labels of columns that may be hidden, by place. */
(function () {
  "use strict";
  function chooser(noun, labels, shown, change) {
    const { element } = TV, boxes = [];
    labels.forEach((label, j) => {
      if (!j || label === undefined) return; // the first column says what a row is
      const box = element("input", { type: "checkbox", checked: shown[j] });
      box.onchange = () => change(j, box.checked);
      boxes.push(element("label", {}, box, " " + label));
    });
    const summary = element("summary", { textContent: "Columns" });
    const box = element("details", { className: "chooser" }, summary, element("fieldset", {}, element("legend", { textContent: "Columns of " + noun }), ...boxes));
    const close = (focus) => { if (!box.open) return; box.open = false; if (focus) summary.focus(); };
    box.addEventListener("keydown", (e) => { if (e.key === "Escape") { e.stopPropagation(); close(true); } });
    box.addEventListener("focusout", (e) => { if (e.relatedTarget && !box.contains(e.relatedTarget)) close(false); });
    document.addEventListener("pointerdown", (e) => { if (!box.contains(e.target)) close(false); });
    return box;
  }
  TV.chooser = chooser;
})();

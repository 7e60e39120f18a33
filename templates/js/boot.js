/* traceview boot: set the theme before the first paint; saved choice first, then the system's. */
(function () {
  "use strict";
  let saved = null;
  try { saved = localStorage.getItem("traceview-theme"); } catch (e) { /* private mode: no storage */ }
  const dark = window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = saved === "dark" || saved === "light" ? saved : dark ? "dark" : "light";
})();

/* traceview codec: the page's compact data (report/codec.py is the other side), texts for numbers, copying.
   Exposes TV.columns, TV.texts, TV.duration, TV.form, TV.exact, TV.size, TV.copy, TV.element. */
(function () {
  "use strict";
  function bytes(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  }
  async function inflate(data) {
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  /* Byte planes back to numbers: plane k holds byte k of every number. */
  async function columns(layout, text) {
    const data = bytes(text.trim()), out = {};
    await Promise.all(layout.map(async (c) => {
      const raw = await inflate(data.subarray(c.from, c.to)), n = c.length;
      const numbers = c.planes === 1 ? raw.subarray(0, n) : c.planes === 2 ? new Uint16Array(n) : c.planes <= 4 ? new Uint32Array(n) : new Float64Array(n);
      if (c.planes > 1) for (let k = 0, scale = 1; k < c.planes; k++, scale *= 256) {
        const at = k * n;
        for (let i = 0; i < n; i++) numbers[i] += raw[at + i] * scale;
      }
      out[c.key] = numbers;
    }));
    return out;
  }
  async function texts(text) {
    return JSON.parse(new TextDecoder().decode(await inflate(bytes(text.trim()))));
  }

  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  /* Duration with a unit of its own; `like` borrows the unit and the digits of another duration; what is `apart` so far reads differently. */
  function duration(ns, like, apart) {
    const size = Math.abs(like === undefined ? ns : like), u = UNITS.find((x) => size >= x[0]) || UNITS[3], most = Math.log10(u[0]);
    const digits = apart === undefined ? Math.min(3, most) : Math.min(Math.max(3, Math.ceil(Math.log10(u[0] / Math.max(apart, 1)))), Math.round(most));
    return (ns / u[0]).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + " " + u[1];
  }
  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const digits = (n) => ({ minimumFractionDigits: n, maximumFractionDigits: n });
  const fixed = (n) => new Intl.NumberFormat("en-US", digits(n));
  const one = fixed(1), two = fixed(2), three = fixed(3);
  /* Cell forms of view.Column: exact numbers to text, one unit per column. */
  const FORMS = {
    count: (v) => whole.format(v), ms: (v) => three.format(v / 1e6), us: (v) => two.format(v / 1e3),
    share: (v) => (v > 0 && v < 0.0005 ? "< 0.1" : one.format(100 * v)), bytes: (v) => two.format(v / 1048576), number: (v) => two.format(v),
    rate: (v) => (v ? v.toLocaleString("en-US", digits(Math.min(9, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v))))))) : "0"),
  };
  /* Signed differences: the sign stands before the number whatever its size; nothing is ±0. */
  const sign = (v) => (v > 0 ? "+" : v < 0 ? "−" : "±");
  for (const kind of ["count", "ms", "us", "share", "number"]) FORMS["change_" + kind] = (v) => sign(v) + FORMS[kind](Math.abs(v));
  /* The same without grouping, and without the noise of binary fractions, for spreadsheets. */
  const plain = (v) => (Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(12))));
  const EXACT = { ms: (v) => plain(v / 1e6), us: (v) => plain(v / 1e3), share: (v) => plain(100 * v), bytes: (v) => plain(v / 1048576), number: plain, rate: plain };
  for (const kind in EXACT) EXACT["change_" + kind] = EXACT[kind];
  /* What a number is sorted by and its bar drawn to: a change goes by its size. */
  const size = (kind, v) => (kind.startsWith("change_") ? Math.abs(v) : v);
  const form = (kind, v) => (v === null ? "–" : FORMS[kind] ? FORMS[kind](v) : String(v));
  const exact = (kind, v) => (v === null ? "" : EXACT[kind] ? EXACT[kind](v) : String(v));

  /* Element with properties, data only ever as text. */
  function element(tag, properties, ...children) {
    const e = document.createElement(tag);
    for (const key in properties || {}) {
      if (key in e) e[key] = properties[key]; else e.setAttribute(key, properties[key]);
    }
    e.append(...children);
    return e;
  }
  function copy(text, button) {
    const before = button.textContent;
    const done = () => { button.textContent = "Copied"; setTimeout(() => { button.textContent = before; }, 900); };
    const old = () => {
      const area = element("textarea", { value: text });
      document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, old); else old();
  }
  window.TV = { columns, texts, duration, form, exact, size, element, copy };
})();

/* traceview expression: regular expressions that take time in proportion to a text, whatever they say.
   The browser's own ones try again and again: /(a+)+$/ on a long name would stop the page for years. Here all
   ways through the expression are walked at once. Without back-references and look-around, which need the other way.
   Exposes TV.expression(source) -> test(text), ignoring case; throws SyntaxError. */
(function () {
  "use strict";
  const MOST = 2000; // steps of a program: {1,1000} of {1,1000} is refused, not run
  const SPACE = /\s/, WORD = /\w/, DIGIT = /\d/;
  const SETS = { d: (c) => DIGIT.test(c), D: (c) => !DIGIT.test(c), w: (c) => WORD.test(c), W: (c) => !WORD.test(c), s: (c) => SPACE.test(c), S: (c) => !SPACE.test(c) };
  const CONTROL = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", 0: "\0" };
  const fail = (why) => { throw new SyntaxError(why); };
  const edge = (text, i) => WORD.test(text[i - 1] || " ") !== WORD.test(text[i] || " ");
  const EDGES = { "^": (t, i) => i === 0, $: (t, i) => i === t.length, b: edge, B: (t, i) => !edge(t, i) };

  /* Text to tree: arrays [kind, …]; kinds are one (a test of a character), edge, all, any, times. */
  function parse(source) {
    let at = 0;
    const more = () => at < source.length;
    const same = (c) => { const low = c.toLowerCase(); return (x) => x === low; };
    function escaped(inClass) {
      const c = more() ? source[at++] : fail("ends with a backslash");
      if (SETS[c]) return { test: SETS[c] };
      if (CONTROL[c]) return { char: CONTROL[c] };
      const digits = { x: 2, u: 4 }[c], hex = source.slice(at, at + digits);
      if (digits && hex.length === digits && /^[0-9a-f]+$/i.test(hex)) { at += digits; return { char: String.fromCharCode(parseInt(hex, 16)) }; }
      if (/[1-9k]/.test(c)) fail("back-references are not supported");
      return inClass && c === "b" ? { char: "\b" } : { char: c };
    }
    function set() {
      const not = source[at] === "^", tests = [];
      if (not) at++;
      for (;;) {
        const c = more() ? source[at++] : fail("a [ is not closed");
        if (c === "]") break;
        const from = c === "\\" ? escaped(true) : { char: c };
        if (from.test || source[at] !== "-" || source[at + 1] === "]" || at + 1 >= source.length) { tests.push(from.test || same(from.char)); continue; }
        at++;
        const end = source[at++], to = end === "\\" ? escaped(true) : { char: end };
        if (to.test || to.char < from.char) fail("a range is out of order");
        tests.push((x) => (x >= from.char && x <= to.char) || (x.toUpperCase() >= from.char && x.toUpperCase() <= to.char));
      }
      return ["one", not ? (x) => !tests.some((t) => t(x)) : (x) => tests.some((t) => t(x))];
    }
    function atom() {
      const c = source[at++];
      if (c === "(") {
        if (source[at] === "?") { if (source[at + 1] !== ":") fail("look-around is not supported"); at += 2; }
        const inner = choice();
        if (source[at++] !== ")") fail("a ( is not closed");
        return inner;
      }
      if (c === ")") fail("a ) was not opened");
      if (c === "[") return set();
      if (c === ".") return ["one", (x) => x !== "\n"];
      if (c === "^" || c === "$") return ["edge", EDGES[c]];
      if (c === "*" || c === "+" || c === "?") fail("nothing to repeat");
      if (c !== "\\") return ["one", same(c)];
      if (source[at] === "b" || source[at] === "B") return ["edge", EDGES[source[at++]]];
      const found = escaped(false);
      return ["one", found.test || same(found.char)];
    }
    function piece() {
      let node = atom();
      for (;;) {
        const braces = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at, at + 20)), c = source[at];
        const [least, most, long] = c === "*" ? [0, Infinity, 1] : c === "+" ? [1, Infinity, 1] : c === "?" ? [0, 1, 1]
          : braces ? [+braces[1], !braces[2] ? +braces[1] : braces[3] ? +braces[3] : Infinity, braces[0].length] : [];
        if (!long) return node;
        if (most < least) fail("a number of times is out of order");
        at += long;
        if (source[at] === "?") at++; // lazy: whether there is a match does not depend on it
        node = ["times", node, least, most];
      }
    }
    function row() {
      const parts = [];
      while (more() && source[at] !== "|" && source[at] !== ")") parts.push(piece());
      return ["all", parts];
    }
    function choice() {
      const ways = [row()];
      while (source[at] === "|") { at++; ways.push(row()); }
      return ways.length > 1 ? ["any", ways] : ways[0];
    }
    const tree = choice();
    return more() ? fail("a ) was not opened") : tree;
  }

  /* Tree to program: steps {test, next}, {edge, next}, {ways: [a, b]}, {done}. */
  function compile(tree) {
    const program = [];
    const step = (s) => { if (program.length >= MOST) fail("too long"); return program.push(s) - 1; };
    /* Put a node before the step `next`; returns where it begins. */
    function put([kind, ...rest], next) {
      if (kind === "one") return step({ test: rest[0], next });
      if (kind === "edge") return step({ edge: rest[0], next });
      if (kind === "all") return rest[0].reduceRight((n, part) => put(part, n), next);
      if (kind === "any") return rest[0].map((way) => put(way, next)).reduce((a, b) => step({ ways: [a, b] }));
      const [node, least, most] = rest;
      let first = next;
      if (most === Infinity) { const loop = step({ ways: [next, next] }); program[loop].ways[0] = put(node, loop); first = loop; }
      else for (let k = least; k < most; k++) first = step({ ways: [put(node, first), next] });
      for (let k = 0; k < least; k++) first = put(node, first);
      return first;
    }
    const start = put(tree, step({ done: true }));
    return { program, start };
  }

  function expression(source) {
    const { program, start } = compile(parse(source)), seen = new Int32Array(program.length);
    return function test(given) {
      const text = given.toLowerCase();
      seen.fill(-1);
      let now = [];
      /* Follow all steps that take no character; says whether the end is reached. */
      function follow(from, list, i) {
        const waiting = [from];
        while (waiting.length) {
          const p = waiting.pop();
          if (seen[p] === i) continue;
          seen[p] = i;
          const s = program[p];
          if (s.done) return true;
          if (s.ways) waiting.push(s.ways[1], s.ways[0]);
          else if (s.edge) { if (s.edge(text, i)) waiting.push(s.next); }
          else list.push(p);
        }
        return false;
      }
      for (let i = 0; i <= text.length; i++) {
        if (follow(start, now, i)) return true;
        const then = [];
        if (i < text.length) for (const p of now) if (program[p].test(text[i]) && follow(program[p].next, then, i + 1)) return true;
        now = then;
      }
      return false;
    };
  }
  TV.expression = expression;
})();

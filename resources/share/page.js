"use strict";
// Replays one shared generation. Everything shown is data from the page itself, and all of it is put in as text:
// nothing of the data is ever parsed as markup, and the page's policy lets no other script run.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  // --- words ---------------------------------------------------------------------------------------------------------

  const number = (n) => n.toLocaleString("en");

  /** The template of a text for a number: some have a form for one and a form for other numbers. */
  const form = (key, count) =>
    typeof data.texts[key] === "string" ? data.texts[key] : data.texts[key][count === 1 ? "one" : "other"];

  /** A text of the catalogue with its fields, which are texts or elements, as a list of both. */
  const parts = (key, fields = {}, count = 0) =>
    form(key, count).split(/(\{[a-z]+\})/).map((part) => (part.startsWith("{") ? fields[part.slice(1, -1)] : part));

  /** A text of the catalogue with fields that are texts. */
  const say = (key, fields, count) => parts(key, fields, count).join("");

  const UNKNOWN = "?"; // a number that the model's server did not return

  function percent(p) {
    if (p === null) return UNKNOWN;
    if (p <= 0) return "0%";
    if (p >= 1) return "100%";
    const value = p * 100;
    if (value > 99.9) return ">99.9%";
    if (value < 0.0001) return "<0.0001%";
    return `${value.toFixed(value >= 1 ? 1 : 1 - Math.floor(Math.log10(value)))}%`;
  }

  /** A probability between two bounds. */
  function between(low, high) {
    if (percent(low) === percent(high)) return percent(low);
    if (low <= 0) return high >= 1 ? UNKNOWN : `≤${percent(high)}`;
    return high >= 1 ? `≥${percent(low)}` : `${percent(low).replace("%", "")}–${percent(high)}`;
  }

  function column(p) {
    if (p === null) return UNKNOWN;
    if (p > 0 && p < 0.00005) return "<0.01%";
    if (p < 1 && p > 0.99995) return ">99.99%";
    return `${(Math.min(Math.max(p, 0), 1) * 100).toFixed(2)}%`;
  }

  /** A duration in seconds, in the unit that fits it. */
  function duration(seconds) {
    for (const [unit, value] of [["µs", seconds * 1e6], ["ms", seconds * 1e3], ["s", seconds]]) {
      const tenths = Math.round(value * 10) / 10;
      if (tenths < 10) return `${tenths.toFixed(1)} ${unit}`;
      if (Math.round(value) < (unit === "s" ? 60 : 1000)) return `${Math.round(value)} ${unit}`;
    }
    return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
  }

  /** A token: the marks for white space and for bytes that are no characters stand back. */
  function token(parent, text) {
    for (const part of text.split(/([␣↵␍⇥]+|(?:\\x[0-9a-f]{2})+|(?:\\u\{[0-9a-f]+\})+)/)) {
      if (part) parent.append(/^[␣↵␍⇥]|^\\x[0-9a-f]{2}|^\\u\{/.test(part) ? make("span", part, "mark") : part);
    }
    return parent;
  }

  /** A sentence in which backticks hold code. */
  function prose(parent, text) {
    let from = 0;
    for (const found of text.matchAll(/(`+) ?(.+?) ?\1(?!`)/g)) {
      parent.append(text.slice(from, found.index), make("code", found[2]));
      from = found.index + found[0].length;
    }
    parent.append(text.slice(from));
    return parent;
  }

  /** The grammar, in the colours of its tokens. */
  function coloured(parent, text, colours) {
    let from = 0;
    for (const [kind, length] of colours) {
      const part = text.slice(from, from + length);
      parent.append(kind === "space" ? part : make("span", part, `s-${kind}`));
      from += length;
    }
  }

  // --- what stays -------------------------------------------------------------------------------------------------------

  function showHead() {
    at("title").textContent = data.title;
    at("facts").textContent = data.facts.join(" · ");
    at("generator").textContent = data.generator + ".";
    coloured(at("grammar"), data.grammar, data.colours);
    for (const [role, text] of data.prompt) {
      if (role) at("prompt").append(make("dt", role));
      at("prompt").append(make("dd", text));
    }
    at("prompt-part").hidden = !data.prompt.length;
    data.branches.forEach((branch, index) => {
      const option = make("option", branch.name);
      option.value = String(index);
      at("branch").append(option);
    });
    at("branch-part").hidden = data.branches.length < 2;
  }

  // --- a branch -----------------------------------------------------------------------------------------------------------

  let branch = null;
  let steps = [];
  let place = 0; // the step that is shown, from 1; 0 where there is none
  let buttons = [];

  const isLow = (step) => step.p !== null && step.p < 0.01;

  function summary(step, index) {
    const said = [say("step", { step: number(index + 1) }), step.token];
    if (step.illegal) said.push(say("against"));
    else if (step.forced) said.push(say("forced"));
    if (step.p !== null) said.push(say("by_model", { percent: percent(step.p) }));
    return said.join(", ");
  }

  function showBranch(index) {
    branch = data.branches[index];
    steps = branch.steps.map((number) => data.steps[number]);
    at("verdict").className = branch.outcome;
    at("verdict").replaceChildren();
    prose(at("verdict"), branch.verdict);
    at("empty").hidden = steps.length > 0;
    at("replay").hidden = steps.length === 0;
    at("legend-illegal").hidden = !steps.some((step) => step.illegal);
    at("text").textContent = branch.text;
    buttons = steps.map((step, number) => {
      const button = token(make("button"), step.token);
      button.type = "button";
      button.title = summary(step, number);
      button.setAttribute("aria-label", button.title);
      button.style.setProperty("--p", String(step.p === null ? 0 : step.p));
      button.classList.toggle("low", isLow(step));
      button.classList.toggle("unasked", step.p === null);
      button.classList.toggle("forced", step.forced);
      button.classList.toggle("illegal", step.illegal);
      button.addEventListener("click", () => goTo(number + 1));
      return button;
    });
    at("chips").replaceChildren(...buttons.map((button) => {
      const item = make("li");
      item.append(button);
      return item;
    }));
    at("slider").max = String(Math.max(1, steps.length));
    drawTimeline();
    goTo(Math.min(Math.max(1, branch.at), steps.length));
  }

  // --- a step -------------------------------------------------------------------------------------------------------------

  function goTo(wanted) {
    const before = place;
    place = Math.min(Math.max(wanted, steps.length ? 1 : 0), steps.length);
    if (!place) return;
    const step = steps[place - 1];
    buttons.forEach((button, index) => {
      button.classList.toggle("ahead", index >= place);
      if (index === place - 1) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    if (before !== place) keepInSight(at("chips"), buttons[place - 1]);
    at("slider").value = String(place);
    at("slider").setAttribute("aria-valuetext", summary(step, place - 1));
    at("place").textContent = say("place", { step: number(place), steps: number(steps.length) });
    at("first").disabled = at("back").disabled = place === 1;
    at("last").disabled = at("next").disabled = place === steps.length;
    showHeadline(step);
    showCandidates(step);
    markTimeline();
  }

  /** Scrolls within a box alone: the page itself stays where its reader put it. */
  function keepInSight(box, inner) {
    const outside = box.getBoundingClientRect();
    const inside = inner.getBoundingClientRect();
    if (inside.top < outside.top) box.scrollTop -= outside.top - inside.top + 4;
    else if (inside.bottom > outside.bottom) box.scrollTop += inside.bottom - outside.bottom + 4;
  }

  function showHeadline(step) {
    const line = at("headline");
    const code = (text, className) => token(make("code", undefined, className), text);
    line.replaceChildren();
    if (step.illegal) {
      const kind = make("b", say("kind_against"), "bad");
      line.append(...parts("headline_against", { kind, token: code(step.token, "struck") }));
    } else if (step.forced) {
      line.append(...parts("headline_forced", { kind: make("b", say("kind_forced"), "forced"), token: code(step.token) }));
    } else if (step.allowed) {
      const fields = { number: make("b", number(step.allowed)), size: data.vocabulary && number(data.vocabulary) };
      line.append(...parts(data.vocabulary ? "allowed_of" : "allowed", fields, step.allowed));
    } else {
      line.append(say("unconstrained"));
    }
    const mass = step.bounds ?? (step.z === null ? null : [step.z, step.z]);
    if (mass !== null && !step.illegal) {
      const fields = { percent: make("b", between(...mass)) };
      line.append(" · ", ...parts(step.forced ? "mass_of_one" : "mass_of_all", fields));
    }
    if (step.wanted) {
      line.append(" · ", ...parts("wanted", { token: code(step.wanted[0], step.wanted[1] ? "" : "struck") }));
      if (step.wanted[1]) line.append(make("span", " ✓", "good"));
    }
    const facts = [step.by];
    if (step.p !== null) facts.push(say("probability", { before: percent(step.p), after: percent(step.masked) }));
    if (step.entropy !== null) facts.push(say("entropy", { entropy: step.entropy.toFixed(2) }));
    if (step.mask !== null) facts.push(say("times", { mask: duration(step.mask / 1e6), model: duration(step.model / 1e3) }));
    at("second").textContent = facts.join(" · ");
  }

  function bar(p, className) {
    const cell = make("td", undefined, "share");
    const box = make("div", undefined, `bar ${className}`);
    const fill = make("i");
    fill.style.setProperty("--p", String(Math.min(1, Math.max(0, p ?? 0))));
    fill.classList.toggle("unknown", p === null);
    box.append(fill, make("span", column(p)));
    cell.append(box);
    return cell;
  }

  function showCandidates(step) {
    const body = at("candidates").tBodies[0];
    const reasons = [];
    body.replaceChildren(...step.candidates.map((one) => {
      const row = make("tr", undefined, [one.allowed ? "" : "refused", one.taken ? "taken" : ""].join(" ").trim());
      const verdict = [one.taken ? say("taken") : "", one.allowed ? "" : say("refused")].filter(Boolean).join(", ");
      row.append(
        make("td", one.rank === null ? "" : one.rank.toLocaleString("en"), "number"),
        token(make("td", undefined, "token"), one.token),
        bar(one.p, "model"),
        bar(one.masked, "masked"),
        make("td", verdict, `verdict ${one.allowed ? (one.taken ? "taken" : "") : "refused"}`),
      );
      if (one.why !== null) reasons.push(data.reasons[one.why]);
      return row;
    }));
    at("candidates").hidden = !step.candidates.length;
    const list = step.why === null ? reasons : [data.reasons[step.why], ...reasons];
    at("why").replaceChildren(...[...new Set(list)].map((reason) => prose(make("li"), reason)));
    at("why-part").hidden = !list.length;
  }

  // --- the timeline -------------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";

  function shape(name, attributes) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    return element;
  }

  /** The middles of the steps, joined; where a step has no number the line breaks. */
  function joined(numbers) {
    let path = "";
    let isOpen = false;
    numbers.forEach((number, index) => {
      if (number !== null) path += `${isOpen ? "L" : "M"}${index + 0.5} ${(94 - 86 * number).toFixed(2)}`;
      if (number !== null && !isOpen) path += "h0";
      isOpen = number !== null;
    });
    return path;
  }

  function drawTimeline() {
    const chart = at("timeline");
    const most = Math.max(0, ...steps.map((step) => step.entropy ?? 0));
    const asked = steps.filter((step) => step.z !== null);
    at("timeline-part").hidden = !asked.length;
    at("legend-entropy").textContent = say("legend_entropy", { most: most.toFixed(1) });
    chart.setAttribute("viewBox", `0 0 ${Math.max(1, steps.length)} 100`);
    chart.replaceChildren(
      ...[8, 51, 94].map((y) => shape("line", { class: "grid", x1: 0, x2: steps.length, y1: y, y2: y })),
      shape("rect", { class: "now", y: 0, width: 1, height: 100 }),
      ...steps.flatMap((step, index) =>
        step.forced ? [shape("rect", { class: "forced", x: index + 0.25, y: 95, width: 0.5, height: 5 })] : []),
      shape("path", { class: "entropy", d: joined(steps.map((s) => (s.entropy === null || !most ? null : s.entropy / most))) }),
      shape("path", { class: "z", d: joined(steps.map((step) => step.z)) }),
    );
    chart.setAttribute("aria-label", say("timeline", { steps: number(steps.length) }, steps.length));
    const free = steps.map((step, index) => [step.z, index]).filter(([z]) => z !== null);
    at("worst").replaceChildren();
    if (free.length) {
      const [z, index] = free.reduce((worst, one) => (one[0] < worst[0] ? one : worst));
      const button = make("button", say("worst_step", { step: number(index + 1) }), "link");
      button.type = "button";
      button.addEventListener("click", () => goTo(index + 1));
      at("worst").append(...parts("worst", { percent: percent(z), step: button }));
    }
  }

  function markTimeline() {
    const now = at("timeline").querySelector(".now");
    if (now) now.setAttribute("x", String(place - 1));
  }

  // --- hands --------------------------------------------------------------------------------------------------------------

  at("slider").addEventListener("input", () => goTo(Number(at("slider").value)));
  at("branch").addEventListener("change", () => showBranch(Number(at("branch").value)));
  at("first").addEventListener("click", () => goTo(1));
  at("back").addEventListener("click", () => goTo(place - 1));
  at("next").addEventListener("click", () => goTo(place + 1));
  at("last").addEventListener("click", () => goTo(steps.length));
  at("timeline").addEventListener("click", (event) => {
    const box = at("timeline").getBoundingClientRect();
    goTo(1 + Math.floor(((event.clientX - box.left) / box.width) * steps.length));
  });
  const KEYS = { ArrowLeft: () => place - 1, ArrowRight: () => place + 1, Home: () => 1, End: () => steps.length };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!(event.key in KEYS) || /^(?:SELECT|INPUT|TEXTAREA|PRE)$/.test(event.target.tagName)) return;
    event.preventDefault();
    goTo(KEYS[event.key]());
  });

  showHead();
  showBranch(0);
  at("page").hidden = false;
})();

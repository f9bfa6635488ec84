"use strict";
// Opens the recorded trials of this page. Everything recorded is put in as text (textContent), never as markup.
(() => {
  const overview = document.getElementById("overview");
  const view = document.getElementById("trial");
  const title = document.title;
  const index = JSON.parse(document.getElementById("index").textContent);
  const byNumber = new Map(index.map((entry, place) => [entry[4], place]));
  const alone = document.getElementById("map") === null; // one trial, shared by itself
  const LETTERS = { passed: "p", failed: "f", capped: "c", error: "e", unanswered: "u", unscored: "n", unfinished: "i" };
  const LONG = { data: 420, said: 2000 }; // characters that are shown unasked
  let shownNumber = null;
  let cameFrom = null;
  let cameAt = 0;

  // -- making elements ------------------------------------------------------------------------------------------------

  function make(name, options = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(options)) {
      if (value === null || value === undefined) continue;
      if (key === "class") element.className = value;
      else element.setAttribute(key, value);
    }
    for (const child of children.flat(3)) if (child !== null && child !== undefined) element.append(child);
    return element;
  }

  function draw(name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const sign = (name) => make("span", { class: `cell ${LETTERS[name] || "n"}`, "aria-hidden": "true" });

  // Lays JSON out on lines; every token stays exactly as it was recorded.
  function laidOut(text) {
    try {
      if (!/^\s*[[{]/.test(text)) return text;
      JSON.parse(text);
    } catch {
      return text;
    }
    const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
    let depth = 0;
    let out = "";
    const line = () => `\n${"  ".repeat(depth)}`;
    tokens.forEach((token, place) => {
      const next = tokens[place + 1];
      if (token === "{" || token === "[") {
        depth += 1;
        out += next === "}" || next === "]" ? token : token + line();
      } else if (token === "}" || token === "]") {
        depth -= 1;
        out += tokens[place - 1] === "{" || tokens[place - 1] === "[" ? token : line() + token;
      } else out += token === "," ? token + line() : token === ":" ? ": " : token;
    });
    return out;
  }

  const fills = new WeakMap(); // what puts the text into a value that is opened

  // A value: whole if it is short, else its beginning, and all of it when opened.
  function valueOf(text, options = {}) {
    const kind = options.class ? ` ${options.class}` : "";
    const most = options.class === "data" ? LONG.data : LONG.said;
    if (!options.closed && text.length <= most && text.split("\n").length <= most / 35) {
      return make("pre", { class: `value${kind}`, dir: "auto" }, text);
    }
    const begin = text.slice(0, 180).replace(/\s+/g, " ");
    const summary = make("summary", {}, make("span", { class: "begin", dir: "auto" }, options.closed || `${begin}…`));
    summary.append(make("span", { class: "quiet" }, ` ${text.length.toLocaleString("en")} characters`));
    const details = make("details", { class: `value${kind}` }, summary);
    fills.set(details, () => {
      if (details.childElementCount === 1) details.append(make("pre", { dir: "auto" }, laidOut(text)));
    });
    details.addEventListener("toggle", () => { if (details.open) fills.get(details)(); });
    return details;
  }

  // -- reading what is packed -----------------------------------------------------------------------------------------

  const unpacked = new Map();

  async function unpack(id) {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old: it has no DecompressionStream");
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function once(id) {
    if (!unpacked.has(id)) unpacked.set(id, unpack(id));
    return unpacked.get(id);
  }

  function whole(value, shared) {
    if (Array.isArray(value)) return value.map((item) => whole(item, shared));
    if (value === null || typeof value !== "object") return value;
    const keys = Object.keys(value);
    if (keys.length === 1 && keys[0] === "$s") return shared[value.$s];
    return Object.fromEntries(keys.map((key) => [key, whole(value[key], shared)]));
  }

  async function trialAt(place) {
    const [, group, inGroup] = index[place];
    const [shared, trials] = await Promise.all([once("shared"), once(`group-${group}`)]);
    return whole(trials[inGroup], shared);
  }

  // -- a trial ----------------------------------------------------------------------------------------------------------

  const address = (number, step) => (step === undefined ? `#trial-${number}` : `#trial-${number}/${step}`);

  function pageOf(trial, place) {
    const number = index[place][4];
    return [headOf(trial, place), make("main", { id: "trial-main", tabindex: "-1" },
      whyOf(trial, number), besideOf(trial, number), blameOf(trial, number), stepsOf(trial))];
  }

  function headOf(trial, place) {
    const ways = make("nav", { "aria-label": "Trials", class: "ways" });
    if (!alone) {
      ways.append(make("a", { href: "#map", class: "back" }, `← ${document.querySelector("#overview h1").textContent}`));
      for (const [step, told, key] of [[-1, "previous", "["], [1, "next", "]"]]) {
        const other = index[place + step];
        if (other) ways.append(make("a", { href: address(other[4]), class: told, title: `key ${key}` }, `${told}: `, sign(other[3]), ` ${other[0].replace(/^[^/]*\//, "")}`));
      }
    }
    const head = make("header", {}, ways, make("h1", { tabindex: "-1" }, trial.id),
      make("p", { class: "finding" }, sign(trial.sign), " ", make("b", {}, trial.sign),
        trial.ending === trial.sign ? null : make("span", { class: "quiet" }, ` · ${trial.ending}`)));
    if (trial.cost) head.append(make("p", { class: "quiet" }, trial.cost));
    for (const remark of trial.remarks || []) head.append(make("p", { class: "quiet" }, remark));
    if (trial.frozen) head.append(make("p", { class: "quiet" }, `frozen calls: ${trial.frozen}`));
    const keys = [["j k", "next, previous step"], ["Enter", "open or close what a step holds"]];
    if (trial.beside && trial.beside.step !== undefined) keys.push(["d", "first other write"]);
    if (!alone) keys.push(["[ ]", "previous, next trial"], ["Esc", "back to the map"]);
    head.append(make("p", { class: "keys" }, keys.map(([key, told]) => make("span", {}, make("kbd", {}, key), ` ${told}`))));
    return head;
  }

  function whyOf(trial, number) {
    const section = make("section", { "aria-labelledby": "why-heading" }, make("h2", { id: "why-heading" }, "The verdict"));
    for (const problem of trial.problems || []) section.append(make("p", { class: "note" }, problem));
    if (trial.why) section.append(make("ul", { class: "why" }, trial.why.map((line) => make("li", {}, line))));
    for (const score of trial.scores || []) {
      section.append(make("p", { class: "score" }, sign(score.verdict), " ", make("b", {}, score.verdict), ` by ${score.name}`));
      if (score.lines.length) section.append(make("ul", { class: "evidence" }, score.lines.map((line) => make("li", {}, valueOf(line)))));
    }
    if (!trial.scores) section.append(make("p", { class: "quiet" }, "No score of this trial is kept."));
    if (trial.labels) {
      section.append(make("h3", {}, "Labels"), make("ul", {}, trial.labels.map((label) => make("li", {},
        label.text, label.step === undefined ? null : [", at ", make("a", { href: address(number, label.step) }, `step ${label.step}`)], make("span", { class: "quiet" }, ` by ${label.by}`)))));
    }
    if (trial.task) section.append(make("h3", {}, "The task"), valueOf(trial.task, { class: "said" }));
    return section;
  }

  function besideOf(trial, number) {
    const beside = trial.beside;
    if (!beside) return null;
    const other = beside.against || "the actions that the task expects";
    const heading = make("h2", { id: "beside-heading" }, "Beside ");
    heading.append(beside.number === undefined ? other : make("a", { href: address(beside.number) }, other));
    const section = make("section", { "aria-labelledby": "beside-heading" }, heading);
    if (beside.step === undefined) section.append(make("p", {}, beside.line));
    else section.append(make("p", { class: "first" }, "The first other write is ", make("a", { href: address(number, beside.step) }, `step ${beside.step}`), "."));
    if (beside.passing > 1) section.append(make("p", { class: "quiet" }, `The nearest of ${beside.passing} trials that passed.`));
    const body = make("tbody", {});
    let same = [];
    const fold = () => {
      if (same.length) {
        const told = same.length === 1 ? `step ${same[0][1]}: the same call` : `steps ${same[0][1]} to ${same[same.length - 1][1]}: ${same.length} same calls`;
        body.append(make("tr", { class: "same" }, make("td", { colspan: "2" }, told)));
      }
      same = [];
    };
    for (const row of beside.rows) {
      if (row[0] === "same") same.push(row);
      else {
        fold();
        body.append(rowOf(row, number, beside));
      }
    }
    fold();
    const table = make("table", { class: "beside-calls" }, make("caption", {}, "Calls of tools, in order. Model calls differ in every trial and are left out."),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "this trial"), make("th", { scope: "col" }, other))), body);
    section.append(beside.rows.length ? table : make("p", { class: "quiet" }, "Neither has called a tool."));
    return section;
  }

  function rowOf([kind, left, right, mine, theirs, args, results], number, beside) {
    const isFirst = (left !== null && left === beside.step) || (right !== null && right === beside.other);
    const link = (target, step) => (target === undefined ? `step ${step}` : make("a", { href: address(target, step) }, `step ${step}`));
    const leaves = (changes, place, told) => changes.length ? make("ul", {}, changes.map((change) => make("li", {}, told, make("code", {}, `${change[0]} = `), make(place === 1 ? "del" : "ins", {}, change[place])))) : null;
    const side = (step, target, text, place) => {
      if (step === null) return make("td", { class: "none" }, make("span", { class: "quiet" }, "no such call"));
      const cell = make("td", {}, beside.against || place === 1 ? link(target, step) : `action ${step + 1}`, " ");
      cell.append(make("code", {}, args.length ? text.replace(/\([^]*$/, "") : text));
      for (const part of [leaves(args, place, ""), kind === "result" ? leaves(results, place, "came back: ") : null]) if (part) cell.append(part);
      return cell;
    };
    return make("tr", { class: `${kind}${isFirst ? " first" : ""}` }, side(left, number, mine, 1), side(right, beside.number, theirs, 2));
  }

  function blameOf(trial, number) {
    const blame = trial.blame;
    if (!blame) return null;
    const room = 380 - 64;
    const svg = draw("svg", { viewBox: `0 0 380 ${38 * blame.bars.length + 8}`, class: "chart", role: "img", "aria-labelledby": "blame-heading" });
    blame.bars.forEach((bar, place) => {
      const top = 38 * place + 4;
      const label = bar.label.length > 52 ? `${bar.label.slice(0, 51)}…` : bar.label;
      svg.append(draw("text", { x: 8, y: top + 11, class: "axis", "font-size": 11.5 }, label),
        draw("rect", { x: 8, y: top + 16, width: bar.value * room, height: 12, class: "bar" }),
        draw("line", { x1: 8 + bar.low * room, x2: 8 + bar.high * room, y1: top + 22, y2: top + 22, class: "whisker" }),
        draw("text", { x: 372, y: top + 26, class: "hat", "text-anchor": "end", "font-size": 11.5 }, bar.value.toFixed(3)));
    });
    const told = blame.frozen ? `Continued with ${blame.frozen} frozen.` : "Continued live.";
    return make("section", { "aria-labelledby": "blame-heading" },
      make("h2", { id: "blame-heading" }, "Continued from a step: how often it passed"),
      make("p", {}, blame.verdict), make("p", { class: "quiet" }, `${told} The lines are 95% intervals (Wilson).`), svg,
      make("ul", {}, blame.bars.map((bar) => make("li", {}, make("a", { href: address(number, bar.step) }, `step ${bar.step}`), `: ${bar.label}`))));
  }

  function stepsOf(trial) {
    const steps = trial.steps || [];
    const list = make("ol", { class: "steps" });
    for (const step of steps) {
      for (const message of step.said || []) list.append(saidOf(message));
      list.append(stepOf(step, trial));
    }
    for (const message of trial.after || []) list.append(saidOf(message));
    const told = steps.length ? `${steps.length} steps` : "No step was recorded";
    return make("section", { "aria-labelledby": "steps-heading" }, make("h2", { id: "steps-heading" }, told), list);
  }

  function saidOf([role, text]) {
    const prompt = role.startsWith("prompt of ");
    if (prompt && text.length > 200) return make("li", { class: "said prompt" }, valueOf(text, { closed: role }));
    return make("li", { class: prompt ? "said prompt" : "said" }, make("span", { class: "who" }, role), valueOf(text));
  }

  function stepOf(step, trial) {
    const first = trial.beside && trial.beside.step === step.n;
    const kind = step.kind === "model" ? `model ${step.actor === "agent" ? "" : "other"}` : `tool ${step.effect || ""}`;
    const item = make("li", { id: `step-${step.n}`, class: `step ${kind}${first ? " first" : ""}${step.parent === undefined ? "" : " inner"}`, tabindex: "-1", "aria-label": `step ${step.n}` });
    const head = make("p", { class: "head" }, make("a", { class: "num", href: address(shownNumber, step.n) }, String(step.n)),
      make("span", { class: "who" }, step.kind === "model" ? step.actor : step.name));
    const facts = [step.kind === "model" ? step.name : step.effect && `${step.kind === "tool" ? "" : `${step.kind}, `}${step.effect}`,
      step.origin && `${step.origin}${step.from ? `, from ${step.from}` : ""}`, step.tokens, step.time, step.finish && `finish: ${step.finish}`];
    for (const fact of facts) if (fact) head.append(make("span", { class: "fact" }, fact));
    if (first) head.append(make("span", { class: "fact mark" }, "first other write"));
    item.append(head);
    for (const [done, otherwise] of step.carried || []) item.append(make("p", { class: otherwise ? "note" : "quiet" }, `before it, the frozen write ${done}`));
    if (step.text) item.append(valueOf(step.text, { class: "spoken" }));
    if (step.refusal) item.append(make("p", { class: "note" }, `refused: ${step.refusal}`));
    for (const [name, args] of step.calls || []) {
      item.append(make("p", { class: "asks" }, "→ ", make("code", {}, name)));
      if (args !== undefined) item.append(valueOf(args, { class: "data" }));
    }
    if (step.args) item.append(valueOf(step.args, { class: "data" }));
    if (step.result !== undefined) item.append(make("div", { class: step.failed ? "came failed" : "came" }, make("span", { class: "unseen" }, "came back: "), valueOf(step.result === "" ? "(nothing)" : step.result, { class: "data" })));
    if (step.changes) {
      item.append(make("table", { class: "changes" }, make("caption", {}, "What it changed in the tracked state"),
        make("thead", {}, make("tr", {}, ["where", "before", "after"].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, step.changes.map(([path, before, after]) => make("tr", {}, make("th", { scope: "row" }, make("code", {}, path)),
          make("td", {}, before === "" ? null : make("del", {}, before)), make("td", {}, after === "" ? null : make("ins", {}, after)))))));
    }
    return item;
  }

  // -- going about ------------------------------------------------------------------------------------------------------

  function wanted() {
    const match = /^#trial-(\d+)(?:\/(\d+))?$/.exec(location.hash);
    if (match && byNumber.has(Number(match[1]))) return { place: byNumber.get(Number(match[1])), step: match[2] };
    return alone && index.length ? { place: 0, step: undefined } : null;
  }

  async function route() {
    const goal = wanted();
    if (goal === null) {
      if (shownNumber !== null) back();
      return;
    }
    const number = index[goal.place][4];
    if (shownNumber !== number) {
      if (shownNumber === null && !alone) cameAt = window.scrollY;
      shownNumber = number;
      try {
        const trial = await trialAt(goal.place);
        if (shownNumber !== number) return;
        view.replaceChildren(...pageOf(trial, goal.place));
      } catch (error) {
        view.replaceChildren(make("main", { id: "trial-main", tabindex: "-1" }, make("h1", { tabindex: "-1" }, index[goal.place][0]),
          make("p", { class: "note" }, `Its steps cannot be opened: ${error.message}`), alone ? null : make("a", { href: "#map" }, "back")));
        if (alone) {
          overview.prepend(view.querySelector(".note"));
          return;
        }
      }
      overview.hidden = true;
      view.hidden = false;
      document.title = index[goal.place][0];
      if (goal.step === undefined) {
        window.scrollTo(0, 0);
        view.querySelector("h1").focus({ preventScroll: true });
      }
    }
    if (goal.step !== undefined) go(document.getElementById(`step-${goal.step}`));
  }

  function back() {
    shownNumber = null;
    view.hidden = true;
    view.replaceChildren();
    overview.hidden = false;
    document.title = title;
    if (cameFrom) window.scrollTo(0, cameAt);
    else document.getElementById("map").scrollIntoView();
    if (cameFrom && cameFrom.isConnected) cameFrom.focus({ preventScroll: true });
  }

  function go(step) {
    if (!step) return;
    step.focus({ preventScroll: true });
    step.scrollIntoView({ block: "nearest" });
  }

  function move(by) {
    const steps = [...view.querySelectorAll(".step")];
    const at = steps.indexOf(document.activeElement && document.activeElement.closest(".step"));
    if (steps.length) go(steps[at === -1 ? (by > 0 ? 0 : steps.length - 1) : Math.min(steps.length - 1, Math.max(0, at + by))]);
  }

  function toggle(step) {
    const parts = [...step.querySelectorAll("details")];
    const open = parts.some((part) => !part.open);
    for (const part of parts) part.open = open;
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const cell = event.target.closest(".cells a");
    if (cell && shownNumber === null) {
      arrows(event, cell);
      return;
    }
    if (shownNumber === null) return;
    const step = event.target.classList.contains("step") ? event.target : null;
    const links = { "[": ".previous", "]": ".next", d: ".first a" };
    if (event.key === "j" || (step && event.key === "ArrowDown")) move(1);
    else if (event.key === "k" || (step && event.key === "ArrowUp")) move(-1);
    else if (event.key === "Enter" && step) toggle(step);
    else if (event.key === "Escape" && !alone) location.hash = "#map";
    else if (links[event.key]) view.querySelector(links[event.key])?.click();
    else return;
    event.preventDefault();
  }

  // The map is one stop of the tab key; arrows go about in it.
  const cells = [...document.querySelectorAll(".cells a")];
  cells.forEach((cell, place) => cell.setAttribute("tabindex", place ? "-1" : "0"));

  function arrows(event, cell) {
    const rows = [...document.querySelectorAll(".cells")];
    const row = rows.indexOf(cell.parentElement);
    const column = [...cell.parentElement.children].indexOf(cell);
    const at = cells.indexOf(cell);
    const above = (r) => rows[r] && (rows[r].children[column] || rows[r].lastElementChild);
    const goal = { ArrowRight: cells[at + 1], ArrowLeft: cells[at - 1], ArrowDown: above(row + 1), ArrowUp: above(row - 1), Home: cells[0], End: cells[cells.length - 1] }[event.key];
    if (!goal) return;
    event.preventDefault();
    goal.focus();
  }

  document.addEventListener("focusin", (event) => {
    const link = event.target.closest("#overview a[href^='#trial-']");
    if (!link) return;
    cameFrom = link;
    if (cells.includes(link)) for (const cell of cells) cell.setAttribute("tabindex", cell === link ? "0" : "-1");
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    if (link.matches("#overview a[href^='#trial-']")) {
      cameFrom = link;
      cameAt = window.scrollY;
    } else if (link.classList.contains("skip")) {
      event.preventDefault();
      (document.getElementById("trial-main") || document.getElementById("main")).focus();
    } else if (link.getAttribute("href") === location.hash) route();
  });
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const details of opened) {
      fills.get(details)?.(); // the toggle event would come after the print
      details.open = true;
    }
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
  document.addEventListener("keydown", press);
  window.addEventListener("hashchange", route);
  route();
})();

/** The session's state: what is in it after any step, and what changed between any two. */

import { html } from "./elements.js";
import { said } from "./values.js";

const STEPS_LISTED = 500;

export class StateTab {
  constructor() {
    this.name = "State";
    this.from = "start";
    this.to = "end";
    this.fromBox = this.select("from", (value) => (this.from = value));
    this.toBox = this.select("to", (value) => (this.to = value));
    this.allBox = html("input");
    this.allBox.type = "checkbox";
    this.allBox.addEventListener("change", () => this.fill());
    this.tools = [
      html("label", "adknb-run-follow", "from", this.fromBox),
      html("label", "adknb-run-follow", "to", this.toBox),
      html("label", "adknb-run-follow", this.allBox, "unchanged too"),
    ];
    this.element = html("div", "adknb-run-panel");
    this.element.tabIndex = 0;
    this.until = null;
  }

  select(name, take) {
    const box = html("select", "adknb-run-pick");
    box.setAttribute("aria-label", `State ${name} step`);
    box.addEventListener("change", () => {
      take(box.value);
      this.fill();
    });
    return box;
  }

  /** The rows that changed the state. */
  steps(state) {
    return [...state.rows.values()].filter((row) => row[8] > 0).sort((a, b) => a[0] - b[0]);
  }

  draw(state, port) {
    this.state = state;
    this.port = port;
    this.changes = this.steps(state);
    const listed = this.changes.slice(-STEPS_LISTED);
    const key = `${listed.at(-1)?.[0]} ${listed.length} ${state.rows.size}`;
    if (key !== this.key) {
      this.key = key;
      const names = listed.map((row) => [String(row[0]), `#${row[0]} ${row[2]}`]);
      fillSelect(this.fromBox, [["start", "the start"], ...names], this.from);
      fillSelect(this.toBox, [...names, ["end", "the end"]], this.to);
    }
    this.fill();
  }

  /** The state after a step; the values that the run found before anything. */
  at(step) {
    const found = { ...this.state.startState };
    if (step === "start") return found;
    for (const row of this.changes) {
      if (step === "end" ? this.until !== null && row[1] > this.until : row[0] > Number(step)) break;
      for (const [key, value] of Object.entries(this.state.details.get(row[0])?.actions?.state_delta ?? {})) {
        if (value === null) delete found[key];
        else found[key] = value;
      }
    }
    return found;
  }

  fill() {
    if (!this.state) return;
    const missing = this.state.need(this.changes.map((row) => row[0]), this.port);
    const lines = diffLines(this.at(this.from), this.at(this.to)).sort((a, b) => a.key.localeCompare(b.key));
    const shown = lines.filter((line) => this.allBox.checked || line.kind !== "same");
    const table = html("table", "adknb-run-diff", html("thead", "", html("tr", "", ...heads())));
    table.append(html("tbody", "", ...shown.slice(0, 2000).map(diffRow)));
    const parts = shown.length ? [html("div", "adknb-run-wide", table)] : [];
    if (!shown.length) parts.push(html("p", "adknb-run-note", lines.length ? "Nothing changed." : "The state is empty."));
    if (missing) {
      const words = this.port ? "…" : `${missing} changes aren't in this copy: what stands here may be incomplete.`;
      parts.push(html("p", "adknb-run-note", words));
    }
    this.element.replaceChildren(...parts);
  }
}

const heads = () => ["±", "key", "before", "after"].map((name) => html("th", "", name));
const SIGNS = { added: "+", removed: "−", changed: "≠", same: "" };
const SAID = { added: "added", removed: "removed", changed: "changed", same: "" };

function diffRow({ key, kind, before, after }) {
  const sign = html("td", "adknb-run-sign", SIGNS[kind]);
  sign.title = SAID[kind];
  const value = (one) => (one === undefined ? "" : html("code", "", said(one)));
  const row = html("tr", "", sign, html("td", "", key), html("td", "", value(before)), html("td", "", value(after)));
  row.dataset.diff = kind;
  return row;
}

/** What differs between two values, place by place: `a.b[0]` where both hold data of one kind. */
export function diffLines(before, after, path = "") {
  const isData = (value) => value !== null && typeof value === "object";
  const inside = isData(before) && isData(after) && Array.isArray(before) === Array.isArray(after);
  if (!inside) return [lineOf(path, before, after)];
  const found = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = Array.isArray(before) ? `${path}[${name}]` : path ? `${path}.${name}` : name;
    const had = Object.hasOwn(before, name);
    const has = Object.hasOwn(after, name);
    if (had && has) {
      const isSame = JSON.stringify(before[name]) === JSON.stringify(after[name]);
      if (isSame) found.push({ key: place, kind: "same", before: before[name], after: after[name] });
      else found.push(...diffLines(before[name], after[name], place));
    } else {
      found.push(has ? { key: place, kind: "added", after: after[name] } : { key: place, kind: "removed", before: before[name] });
    }
  }
  return found;
}

const lineOf = (key, before, after) => ({ key, kind: "changed", before, after });

function fillSelect(box, choices, chosen) {
  box.replaceChildren(
    ...choices.map(([value, name]) => {
      const option = html("option", "", name);
      option.value = value;
      return option;
    }),
  );
  box.value = choices.some(([value]) => value === chosen) ? chosen : choices[0]?.[0];
}

/** Any JSON as a tree that opens and closes; everything in it is text. */

import { button, html } from "./elements.js";
import { spaced } from "./values.js";

const CHILDREN_SHOWN = 100;
const MORE_SHOWN = 500;

/** @param {*} value @param {number} [open] how many levels are open at first */
export function treeView(value, open = 2) {
  const list = html("div", "adknb-run-tree");
  list.append(...branches(value, open));
  return list;
}

function branches(value, open) {
  if (value === null || typeof value !== "object") return [leaf("", value)];
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const parts = entries.slice(0, CHILDREN_SHOWN).map(([name, item]) => branch(isList ? `${name}` : name, item, open));
  if (entries.length > CHILDREN_SHOWN) {
    parts.push(moreBranches(entries, CHILDREN_SHOWN));
  }
  return parts;
}

/** A button that puts the next branches in its place, and itself behind them as long as there are more. */
function moreBranches(entries, from) {
  const more = button(`… ${(entries.length - from).toLocaleString("en")} more`, "adknb-run-quiet", () => {
    const to = from + MORE_SHOWN;
    const next = entries.slice(from, to).map(([name, item]) => branch(name, item, 0));
    const rest = entries.length > to ? [moreBranches(entries, to)] : [];
    more.replaceWith(...next, ...rest);
    (rest[0] ?? next.at(-1).querySelector("summary"))?.focus();
  });
  return more;
}

function branch(name, value, open) {
  if (value === null || typeof value !== "object" || Object.keys(value).length === 0) return leaf(name, value);
  const size = Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;
  const gist = html("span", "adknb-run-soft", ` ${size} ${spaced(value).slice(0, 90)}`);
  const box = html("details", "", html("summary", "", html("b", "", name), gist));
  // Made when it is opened, so that a large value costs nothing while closed.
  const fill = () => box.childElementCount === 1 && box.append(html("div", "adknb-run-inside", ...branches(value, open - 1)));
  box.addEventListener("toggle", () => box.open && fill());
  if (open > 0) {
    box.open = true;
    fill();
  }
  return box;
}

function leaf(name, value) {
  const kind = value === null ? "null" : typeof value;
  const shown = html("span", "adknb-run-leaf", kind === "string" ? value : spaced(value));
  shown.dataset.kind = kind;
  return html("div", "adknb-run-twig", ...(name === "" ? [] : [html("b", "", name), " "]), shown);
}

/** Put a text on the clipboard, and say on the button that it is there. */
export function copyButton(label, text) {
  const made = button(label, "adknb-run-quiet adknb-run-small", async () => {
    try {
      await navigator.clipboard.writeText(text());
      made.textContent = "copied";
    } catch {
      made.textContent = "can't copy here";
    }
    setTimeout(() => (made.textContent = label), 1500);
  });
  return made;
}

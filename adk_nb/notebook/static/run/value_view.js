/** Any value readable: a text as text, a list of like things as a table, a dictionary as rows, what holds more as a tree. */

import { button, html } from "./elements.js";
import { treeView } from "./tree.js";
import { prettyJson, said } from "./values.js";

const TABLE_ROWS = 20;
const TABLE_COLUMNS = 30;
const NAMED_ROWS = 50;
const MORE_ROWS = 500;
const LONG_TEXT = 400;

const isFlat = (value) => value === null || typeof value !== "object";
const isNamed = (value) => !isFlat(value) && !Array.isArray(value) && Object.keys(value).length > 0;

/** @param {*} value @param {boolean} [isInside] it stands in a row of another one */
export function valueView(value, isInside = false) {
  if (value === null || value === undefined) return html("span", "adknb-run-soft", "null");
  if (typeof value === "string") return textView(value);
  if (isFlat(value)) return html("code", "", said(value));
  if (isTable(value)) return tableView(value);
  if (isNamed(value) && !isInside) return rowsView(value);
  const flat = said(value);
  return flat.length <= 56 ? html("code", "", flat) : treeView(value, 1);
}

/** A text with its line breaks. What a model wrote stays text: nothing in it is a heading, a picture or a link. */
function textView(text) {
  const box = html("div", "adknb-run-text", text);
  if (text.length > LONG_TEXT || text.split("\n", 9).length > 8) byKeyboard(box, "Text");
  return box;
}

/** The kernel ends a list that it has cut with how long it was. */
const isCutList = (value) => typeof value.at(-1) === "string" && value.at(-1).startsWith("… (");

/** A list of dictionaries with nothing below their values. */
function isTable(value) {
  if (!Array.isArray(value)) return false;
  const rows = isCutList(value) ? value.slice(0, -1) : value;
  return rows.length > 0 && rows.every((row) => isNamed(row) && Object.values(row).every(isFlat));
}

export function tableView(all) {
  const isCut = isCutList(all);
  const rows = isCut ? all.slice(0, -1) : all;
  const everyName = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const names = everyName.slice(0, TABLE_COLUMNS);
  const here = (row, name) => (Object.hasOwn(row, name) ? row[name] : undefined);
  const isNumeric = (name) => {
    const kinds = new Set(rows.map((row) => typeof (here(row, name) ?? undefined)));
    return kinds.delete("number") && [...kinds].every((kind) => kind === "undefined");
  };
  const kinds = names.map((name) => (isNumeric(name) ? "adknb-run-r" : ""));
  const heads = names.map((name, at) => html("th", kinds[at], name));
  for (const one of heads) one.scope = "col";
  const body = html("tbody");
  const fill = (some) => {
    for (const row of some) {
      const cells = names.map((name, at) => {
        const item = here(row, name);
        const cell = html("td", kinds[at], item === undefined ? "" : said(item));
        if (item === null) cell.classList.add("adknb-run-soft");
        return cell;
      });
      body.append(html("tr", "", ...cells));
    }
  };
  const table = html("table", "", html("thead", "", html("tr", "", ...heads)), body);
  const scroller = html("div", "adknb-run-wide", table);
  byKeyboard(scroller, `Table of ${rows.length} rows`);
  const box = html("div", "adknb-run-grid", scroller);
  const notes = isCut ? [all.at(-1)] : [];
  if (everyName.length > names.length) notes.push(`${names.length} of ${everyName.length} columns`);
  if (notes.length) box.append(html("p", "adknb-run-soft", notes.join(" · ")));
  return gradually(box, rows, TABLE_ROWS, fill, "rows", () => scroller);
}

function rowsView(value) {
  const list = html("dl", "adknb-run-kv");
  const fill = (some) => {
    for (const [name, item] of some) list.append(html("div", "", html("dt", "", name), html("dd", "", valueView(item, true))));
  };
  const box = html("div", "adknb-run-rows", list);
  if (said(value).length > LONG_TEXT) byKeyboard(box, "Data");
  return gradually(box, Object.entries(value), NAMED_ROWS, fill, "rows", () => box);
}

/** Fill in the first of many things, and more whenever it is asked for, never so many that a page stands still. */
function gradually(box, all, most, fill, what, focused) {
  let shown = Math.min(most, all.length);
  fill(all.slice(0, shown));
  const count = all.length.toLocaleString("en");
  const words = () => (all.length - shown > MORE_ROWS ? `show ${MORE_ROWS} more of ${count} ${what}` : `show all ${count} ${what}`);
  if (shown === all.length) return box;
  const more = button(words(), "adknb-run-quiet", () => {
    fill(all.slice(shown, shown + MORE_ROWS));
    shown = Math.min(shown + MORE_ROWS, all.length);
    more.textContent = words();
    if (shown < all.length) return;
    more.remove();
    focused().focus({ preventScroll: true });
  });
  box.append(more);
  return box;
}

/** What scrolls within itself is reached and scrolled by keyboard. */
function byKeyboard(box, label) {
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
}

export function resultView(result) {
  const box = html("div", "adknb-run-result");
  if (result.kind === "table") box.append(tableView(result.value));
  else if (result.kind === "json") box.append(html("pre", "", prettyJson(result.value)));
  else box.append(html("div", "adknb-run-text", result.value));
  if (result.is_cut) box.append(html("p", "adknb-run-soft", "The beginning; run.output holds all of it."));
  return box;
}

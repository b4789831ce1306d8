/** Values, results and errors as elements. */

import { html } from "./elements.js";

/** A value as text: a text as it is, all else as JSON. */
export const said = (value) => (typeof value === "string" ? value : spaced(value));

/** JSON indented where it doesn't fit on a line. */
export function prettyJson(value, indent = "") {
  const flat = JSON.stringify(value);
  if (value === null || typeof value !== "object" || indent.length + flat.length <= 56) return spaced(value);
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => inner + prettyJson(item, inner))
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${prettyJson(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return parts.length ? `${open}\n${parts.join(",\n")}\n${indent}${close}` : open + close;
}

/** The value of a JSON text; where the browser can, no digit of a long number is lost. */
export function exactJson(text) {
  const keep = (_, value, context) => (typeof value === "number" ? JSON.rawJSON(context.source) : value);
  return JSON.rawJSON ? JSON.parse(text, keep) : JSON.parse(text);
}

/** JSON on one line, with a space after commas and colons. */
export function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`).join(", ")}}`;
}

/** Data as rows of names and values, or as text. */
export function valueView(value) {
  if (value === null || value === undefined) return html("span", "adknb-run-soft", "null");
  if (Array.isArray(value) || typeof value !== "object") return html("div", "adknb-run-text", said(value));
  const list = html("dl", "adknb-run-kv");
  for (const [name, item] of Object.entries(value)) {
    const isData = typeof item !== "string";
    list.append(html("div", "", html("dt", "", name), html("dd", "", isData ? html("code", "", said(item)) : item)));
  }
  return list;
}

export function resultView(result) {
  const box = html("div", "adknb-run-result");
  if (result.kind === "table") box.append(tableView(result.value));
  else if (result.kind === "json") box.append(html("pre", "", prettyJson(result.value)));
  else box.append(html("div", "adknb-run-text", result.value));
  if (result.is_cut) box.append(html("p", "adknb-run-soft", "The beginning; run.output holds all of it."));
  return box;
}

function tableView(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, 30);
  const head = html("tr", "", ...names.map((name) => html("th", "", name)));
  const body = html("tbody");
  for (const row of rows.slice(0, 200)) {
    const cells = names.map((name) => html("td", typeof row[name] === "number" ? "adknb-run-r" : "", name in row ? said(row[name]) : ""));
    body.append(html("tr", "", ...cells));
  }
  const note = rows.length > 200 ? [html("p", "adknb-run-soft", `200 of ${rows.length} rows`)] : [];
  return html("div", "adknb-run-wide", html("table", "", html("thead", "", head), body), ...note);
}

export function errorView(error) {
  const where = error.path ? ` in ${error.path.split("/").pop().split("@")[0]}` : "";
  const box = html(
    "div",
    "adknb-run-error",
    html("h4", "", `${error.type}${where}`),
    html("p", "adknb-run-text", error.message ?? ""),
  );
  box.setAttribute("role", "alert");
  if (error.short) box.append(html("pre", "", error.short));
  if (error.full) box.append(html("details", "", html("summary", "", "full traceback"), html("pre", "", error.full)));
  return box;
}

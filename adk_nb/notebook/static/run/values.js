/** Values as text, and errors as elements. */

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

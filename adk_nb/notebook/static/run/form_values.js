/**
 * What is filled into a form: entries, as the kernel reads them, and the value that they stand for.
 *
 * `{state: "missing"}`, `{state: "null"}`, or `{state: "value"}` with, by the kind of the field, `text`, `fields` and
 * `pairs`, `items`, `variant` and `entry`; any kind may hold `json` in place of these. Numbers in values keep the digits
 * they were written with where the browser can (`JSON.rawJSON`).
 *
 * @typedef {{state: string, text?: string, json?: string, fields?: Object<string, Entry>, pairs?: Array[],
 *   items?: Entry[], variant?: number, entry?: Entry}} Entry
 */

import { exactJson } from "./values.js";

export const MISSING = { state: "missing" };
const ANYTHING = { kind: "json", label: "", help: "", hint: "", required: true, nullable: false, initial: MISSING };
const BOXES = ["text", "longtext", "secret", "date", "time", "datetime"];
const WHOLE_NUMBER = /^-?\d+$/;
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const DECIMAL_TEXT = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** A field with what it refers to in place of the reference; its own words win. */
export function wholeField(given, defs) {
  let field = given;
  for (const seen = new Set(); field.kind === "ref" && !seen.has(field.ref); ) {
    seen.add(field.ref);
    const { kind, ref, ...own } = field;
    const inner = defs[ref];
    field = { ...inner, ...own };
    for (const word of ["label", "help", "hint", "nullable"]) field[word] = own[word] || inner[word];
  }
  return field.kind === "ref" ? { ...field, kind: "json" } : field;
}

/** The field of one place in a list. */
export const placeOf = (field, at) => field.first[at] ?? field.item ?? ANYTHING;
/** The field of a key without a name of its own. */
export const otherOf = (field) => field.others ?? field.item ?? ANYTHING;
/** What stands in a group under a name. */
export const memberEntry = (entry, field) =>
  Object.hasOwn(entry.fields ?? {}, field.name) ? entry.fields[field.name] : field.initial;

/** Whether something in the form is a secret. */
export function hasSecrets(given, defs, seen = new Set()) {
  if (given.kind === "ref") {
    if (seen.has(given.ref)) return false;
    seen.add(given.ref);
  }
  const field = wholeField(given, defs);
  const inner = [...(field.fields ?? []), ...(field.first ?? []), ...(field.variants ?? []).map((one) => one.field)];
  for (const one of [field.item, field.others]) if (one) inner.push(one);
  return field.kind === "secret" || inner.some((one) => hasSecrets(one, defs, seen));
}

/** An entry with every secret left out. @returns {Entry} */
export function withoutSecretTexts(given, entry, defs) {
  const field = wholeField(given, defs);
  const each = (one, inner) => withoutSecretTexts(one, inner, defs);
  if (field.kind === "secret") return MISSING;
  const kept = { ...entry };
  if (kept.fields) {
    const known = new Map(field.fields.map((one) => [one.name, one]));
    kept.fields = Object.fromEntries(Object.entries(kept.fields).map(([name, one]) => [name, each(known.get(name) ?? ANYTHING, one)]));
  }
  if (kept.items) kept.items = kept.items.map((one, at) => each(placeOf(field, at), one));
  if (kept.pairs) kept.pairs = kept.pairs.map(([name, one]) => [name, each(otherOf(field), one)]);
  if (kept.entry) kept.entry = each(field.variants[kept.variant].field, kept.entry);
  return kept;
}

function valueOfText(text) {
  try {
    return exactJson(text);
  } catch {
    return text;
  }
}

/** The value that an entry stands for; nothing for one that is left out. What can't be read stays a text. */
export function valueOfEntry(given, entry, defs) {
  const field = wholeField(given, defs);
  if (entry.state === "null") return null;
  if (entry.state !== "value") return undefined;
  if (entry.json !== undefined) return valueOfText(entry.json);
  const pairs = (entry.pairs ?? []).map(([name, one]) => [name, valueOfEntry(otherOf(field), one, defs) ?? null]);
  if (field.kind === "group") {
    const own = field.fields.map((one) => [one.name, valueOfEntry(one, memberEntry(entry, one), defs)]);
    return Object.fromEntries([...own.filter(([, value]) => value !== undefined), ...pairs]);
  }
  if (field.kind === "dict") return Object.fromEntries(pairs);
  if (field.kind === "list") return entry.items.map((one, at) => valueOfEntry(placeOf(field, at), one, defs) ?? null);
  if (field.kind === "union") return valueOfEntry(field.variants[entry.variant].field, entry.entry, defs);
  if (field.kind === "choice") return valueOfText(field.choices[Number(entry.text)]?.json ?? "null");
  const bare = entry.text.trim().replace(/^\+/, "");
  const isNumber = ["integer", "number"].includes(field.kind) && !field.as_text;
  return isNumber && JSON_NUMBER.test(bare) ? exactJson(bare) : entry.text;
}

/** A value as JSON that a person reads. */
export const readableJson = (value) => JSON.stringify(value ?? null, null, 2);

/** How a number was written; nothing for what is none. */
function digits(value) {
  if (typeof value === "number") return JSON.stringify(value);
  return JSON.isRawJSON?.(value) ? value.rawJSON : null;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && digits(value) === null;
const isSame = (choice, value) => sorted(exactJson(choice.json)) === sorted(value);

function sorted(value) {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${sorted(value[name])}`).join()}}`;
}

/** A value as an entry of a field, whatever it is; the inverse of `valueOfEntry`. @returns {Entry} */
export function entryOfValue(given, value, defs) {
  const field = wholeField(given, defs);
  const { kind } = field;
  if (kind === "choice") {
    const at = field.choices.findIndex((choice) => isSame(choice, value));
    if (at >= 0) return { state: "value", text: String(at) };
  }
  if (value === null && field.nullable) return { state: "null" };
  if (kind !== "json" && fitsKind(field, value)) {
    if (kind === "group" || kind === "dict") return entryOfObject(field, value, defs);
    if (kind === "list") return { state: "value", items: value.map((one, at) => entryOfValue(placeOf(field, at), one, defs)) };
    if (kind !== "union") return { state: "value", text: digits(value) ?? value };
    const variant = field.variants.findIndex((one) => fitsField(one.field, value, defs));
    if (variant >= 0) return { state: "value", variant, entry: entryOfValue(field.variants[variant].field, value, defs) };
  }
  return { state: "value", json: readableJson(value) };
}

function entryOfObject(field, value, defs) {
  const known = field.fields ?? [];
  const names = new Set(known.map((one) => one.name));
  const rest = Object.keys(value).filter((name) => !names.has(name));
  const pairs = rest.map((name) => [name, entryOfValue(otherOf(field), value[name], defs)]);
  if (field.kind === "dict") return { state: "value", pairs };
  const has = (one) => Object.hasOwn(value, one.name);
  const fields = known.map((one) => [one.name, has(one) ? entryOfValue(one, value[one.name], defs) : MISSING]);
  return { state: "value", fields: Object.fromEntries(fields), pairs };
}

/** Whether a control of this kind can hold the value. */
function fitsKind({ kind, as_text: asText }, value) {
  if (BOXES.includes(kind)) return typeof value === "string";
  if (kind === "group" || kind === "dict") return isObject(value);
  if (kind === "list") return Array.isArray(value);
  if (kind === "number" && asText) return typeof value === "string" && DECIMAL_TEXT.test(value);
  if (kind === "integer") return WHOLE_NUMBER.test(digits(value) ?? "");
  if (kind === "number") return digits(value) !== null;
  return kind === "union" || kind === "json";
}

/** Whether the value has the shape that a field asks for, all the way down; bounds don't count. */
function fitsField(given, value, defs) {
  const field = wholeField(given, defs);
  const { kind } = field;
  if (value === null && kind !== "choice") return Boolean(field.nullable) || kind === "json";
  if (kind === "choice") return field.choices.some((choice) => isSame(choice, value)) || (value === null && field.nullable);
  if (!fitsKind(field, value)) return false;
  if (kind === "group") {
    return field.fields.every((one) => {
      return Object.hasOwn(value, one.name) ? fitsField(one, value[one.name], defs) : !one.required;
    });
  }
  if (kind === "list") return value.every((one, at) => fitsField(placeOf(field, at), one, defs));
  if (kind === "dict") return Object.values(value).every((one) => fitsField(field.item, one, defs));
  return kind !== "union" || field.variants.some((one) => fitsField(one.field, value, defs));
}

/**
 * One control for each kind of field that holds one value.
 *
 * A control is `{element, spots(key, into)}`: what is on the page, and where an error at `key`, a JSON pointer, and
 * below it is told. It is made of a field, its entry, `put`, which takes the entry after every change, and the `form`
 * (`defs`, `submit`, and `more`, what a host wants to know).
 */

import { button, html } from "./elements.js";
import { dictControl, groupControl, listControl, unionControl } from "./form_nested.js";
import { MISSING, wholeField } from "./form_values.js";

// Each output of a page carries this module: ids must differ between them.
const FIELD_IDS = `adknb-field-${Math.random().toString(36).slice(2, 10)}`;
let fieldNumber = 0;

export const nextFieldId = () => `${FIELD_IDS}-${++fieldNumber}`;

/** The control of a field. @param {object} given @param {Entry} entry @param {function(Entry)} put @param {object} form */
export function control(given, entry, put, form) {
  const field = wholeField(given, form.defs);
  const isJson = field.kind === "json" || entry.json !== undefined;
  if (isJson) return boxControl({ ...field, kind: "json" }, entry, put, form);
  if (field.kind === "group") return groupControl(field, entry, put, form);
  if (field.kind === "list") return listControl(field, entry, put, form);
  if (field.kind === "dict") return dictControl(field, entry, put, form);
  if (field.kind === "union") return unionControl(field, entry, put, form);
  if (field.kind === "choice") return (field.buttons ? buttonsControl : selectControl)(field, entry, put, form);
  return boxControl(field, entry, put, form);
}

/** A label above its input, what is wrong with it and help below. */
export function labelled(field, input, states = html("span", "adknb-run-states")) {
  const id = nextFieldId();
  const isBox = input.matches("input, textarea, select");
  const label = html(isBox ? "label" : "div", field.unseen ? "adknb-run-label adknb-run-unseen" : "adknb-run-label", field.label);
  if (field.required) {
    const star = html("i", "", " *");
    star.setAttribute("aria-hidden", "true");
    label.append(star);
  }
  const bad = html("div", "adknb-run-bad");
  bad.id = `${id}-bad`;
  const said = [field.help, field.hint].filter(Boolean).join(" · ");
  const help = html("div", "adknb-run-help", said);
  help.id = `${id}-help`;
  if (isBox) {
    input.id = id;
    label.htmlFor = id;
    input.required = Boolean(field.required);
  } else {
    label.id = id;
    input.setAttribute("aria-labelledby", id);
  }
  input.setAttribute("aria-describedby", said ? `${bad.id} ${help.id}` : bad.id);
  const top = html("div", field.unseen ? "adknb-run-labelrow adknb-run-bare" : "adknb-run-labelrow", label, states);
  const element = html("div", "adknb-run-field", top, input, bad, ...(said ? [help] : []));
  return { element, spots: (key, into) => into.set(key, { input, bad, label: field.label }) };
}

/** Chips for what an empty box can mean; `marks` draws them for an entry. */
function stateChips(field, put, show) {
  const states = html("span", "adknb-run-states");
  const marks = (entry) => {
    const chips = [];
    const isEmpty = entry.state !== "value" || entry.text === "";
    if (isEmpty && ["text", "longtext"].includes(field.kind)) chips.push(["empty text", { state: "value", text: "" }]);
    if (field.nullable) chips.push(["null", { state: "null" }]);
    states.replaceChildren(
      ...chips.map(([name, wanted]) => {
        const isOn = entry.state === wanted.state && (entry.text ?? "") === (wanted.text ?? "");
        const chip = button(name, `adknb-run-chip${isOn ? " adknb-run-on" : ""}`, () => {
          const next = isOn ? MISSING : wanted;
          put(next);
          show(next);
          states.children[chips.findIndex(([one]) => one === name)]?.focus();
        });
        chip.setAttribute("aria-pressed", String(isOn));
        return chip;
      }),
    );
  };
  return { states, marks };
}

const PICKERS = { date: "date", time: "time", datetime: "datetime-local" };

/** A box that texts, numbers, dates and JSON are typed into. */
function boxControl(field, entry, put, form) {
  const { kind } = field;
  const part = kind === "json" ? "json" : "text";
  const isArea = ["text", "longtext", "json"].includes(kind);
  const box = html(isArea ? "textarea" : "input", "adknb-run-in");
  if (isArea) box.rows = kind === "text" ? 1 : 3;
  else box.type = kind === "secret" ? "password" : (PICKERS[kind] ?? "text");
  if (kind === "secret") box.autocomplete = "off";
  if (PICKERS[kind]) box.step = "any";
  if (kind === "integer") box.inputMode = "numeric";
  if (kind === "number") box.inputMode = "decimal";
  if (kind === "json") {
    box.classList.add("adknb-run-code");
    box.placeholder = "JSON";
    box.spellcheck = false;
  }
  const grow = () => {
    if (!isArea) return;
    box.style.height = "auto";
    if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight + 2, 260)}px`;
  };
  const show = (now) => {
    const text = now.state === "value" ? (now[part] ?? "") : "";
    box.value = text;
    // A picker shows no text that it can't read, such as a time with its zone.
    if (PICKERS[kind] && box.value !== text) {
      box.type = "text";
      box.value = text;
    }
    chips.marks(now);
    requestAnimationFrame(grow);
  };
  const chips = stateChips(field, put, show);
  box.addEventListener("input", () => {
    const now = box.value === "" ? MISSING : { state: "value", [part]: box.value };
    put(now);
    chips.marks(now);
    grow();
  });
  // Enter sends, as in any chat; Shift+Enter starts a new line.
  box.addEventListener("keydown", (event) => {
    const isSend = kind === "text" ? !event.shiftKey : event.ctrlKey || event.metaKey;
    if (isArea && event.key === "Enter" && isSend && !event.isComposing) {
      event.preventDefault();
      form.submit();
    }
  });
  show(entry);
  return labelled(field, box, chips.states);
}

/** Few choices: a button each. */
function buttonsControl(field, entry, put, form) {
  const row = html("div", "adknb-run-row");
  row.setAttribute("role", "group");
  const show = (now) => {
    [...row.children].forEach((one, index) => {
      const isOn = now.state === "value" && now.text === String(index);
      one.classList.toggle("adknb-run-primary", isOn || (form.sendsAtOnce && index === 0));
      if (!form.sendsAtOnce) one.setAttribute("aria-pressed", String(isOn));
    });
    chips.marks(now);
  };
  const chips = stateChips(field, put, show);
  let chosen = entry;
  field.choices.forEach((choice, index) => {
    row.append(
      button(choice.label, "", () => {
        const isOff = !form.sendsAtOnce && !field.required && chosen.text === String(index);
        chosen = isOff ? MISSING : { state: "value", text: String(index) };
        put(chosen);
        show(chosen);
        if (form.sendsAtOnce) form.submit();
      }),
    );
  });
  show(entry);
  return labelled(field, row, chips.states);
}

const OFFERED_AT_ONCE = 500;

/** Many choices: a list to open. */
function selectControl(field, entry, put) {
  const box = html("select", "adknb-run-in");
  const none = html("option", "", field.required ? "choose …" : "leave out");
  none.value = "";
  box.append(none);
  let chosen = "";
  const show = (now) => {
    chosen = now.state === "value" ? now.text : "";
    box.value = chosen;
    chips.marks(now);
  };
  // Thousands at once would hold the page up.
  const offer = (from) => {
    const some = field.choices.slice(from, from + OFFERED_AT_ONCE);
    box.append(
      ...some.map((choice, index) => {
        const option = html("option", "", choice.label);
        option.value = String(from + index);
        return option;
      }),
    );
    if (box.value !== chosen) box.value = chosen;
    if (from + some.length < field.choices.length) requestAnimationFrame(() => offer(from + some.length));
  };
  offer(0);
  const chips = stateChips(field, put, show);
  box.addEventListener("change", () => {
    const now = box.value === "" ? MISSING : { state: "value", text: box.value };
    chosen = box.value;
    put(now);
    chips.marks(now);
  });
  show(entry);
  return labelled(field, box, chips.states);
}

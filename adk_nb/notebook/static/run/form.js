/** The form of one open question. */

import { html, visible } from "./elements.js";
import { control, labelled } from "./form_controls.js";
import { entryOfValue, hasSecrets, readableJson, valueOfEntry, wholeField, withoutSecretTexts } from "./form_values.js";
import { titleView } from "./prose.js";
import { valueView } from "./value_view.js";
import { exactJson } from "./values.js";

/**
 * The form of one open question, and the same answer as JSON beside it: each follows the other. What is filled in is kept
 * as a draft, so that a redrawn page has it again; what is typed into a secret field is kept nowhere but in the field, as
 * drafts are a part of the widget's state, which is saved.
 */
export class QuestionForm {
  constructor(question, port, number, total) {
    this.question = question;
    this.port = port;
    const { field, defs } = question.form;
    this.defs = defs;
    const whole = wholeField(field, defs);
    this.field = { ...field, unseen: true, isRoot: whole.kind === "group" && !whole.nullable };
    this.isSecret = hasSecrets(field, defs);
    this.sendsAtOnce = whole.kind === "choice" && whole.buttons && !whole.nullable;
    const draft = port.drafts()[question.key] ?? {};
    this.entry = draft.entry ?? field.initial;
    /** What stands in the JSON box, as long as it can't be read. */
    this.jsonText = draft.json ?? null;
    this.element = html("form", "adknb-run-form");
    this.element.noValidate = true;
    const title = question.message || "Input is needed";
    const from = total > 1 ? `${question.node} asks · ${number} of ${total}` : `${question.node} asks`;
    this.element.append(...titleView(title), html("p", "adknb-run-soft", from));
    if (question.payload !== null) this.element.append(valueView(question.payload));
    this.fieldBox = html("div", "adknb-run-fields");
    this.message = html("div", "adknb-run-bad");
    this.message.setAttribute("role", "alert");
    this.send = html("button", "adknb-run-primary", "Send answer");
    this.send.type = "submit";
    this.send.hidden = this.sendsAtOnce;
    const row = html("div", "adknb-run-row", this.send);
    this.element.append(this.fieldBox, this.message, row);
    if (!this.sendsAtOnce && !this.isSecret) this.element.append(this.jsonPart());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      event.preventDefault();
      this.submit();
    });
    this.drawFields();
  }

  drawFields() {
    this.drawn = control(this.field, this.entry, (entry) => this.put(entry), this);
    this.fieldBox.replaceChildren(this.drawn.element);
  }

  put(entry) {
    this.entry = entry;
    this.keep();
    this.followFields();
  }

  keep() {
    const entry = this.isSecret ? withoutSecretTexts(this.field, this.entry, this.defs) : this.entry;
    this.port.draft(this.question.key, { entry, json: this.jsonText });
  }

  /** The answer as JSON, folded away until it is wanted. */
  jsonPart() {
    this.jsonOpen = html("details", "adknb-run-more", html("summary", "", "as JSON"));
    this.jsonOpen.addEventListener("toggle", () => this.followFields());
    if (this.jsonText !== null) {
      this.jsonOpen.open = true;
      this.makeJsonBox();
      this.area.value = this.jsonText;
      queueMicrotask(() => this.followJson());
    }
    return this.jsonOpen;
  }

  makeJsonBox() {
    this.area = html("textarea", "adknb-run-in adknb-run-code");
    this.area.spellcheck = false;
    this.area.rows = 5;
    const box = labelled({ label: "Answer as JSON", unseen: true, help: "", hint: "" }, this.area);
    const spots = new Map();
    box.spots("", spots);
    this.jsonBad = spots.get("").bad;
    this.jsonBad.setAttribute("role", "alert");
    this.area.addEventListener("input", () => this.followJson());
    this.jsonOpen.append(box.element);
  }

  followFields() {
    if (!this.jsonOpen?.open || this.jsonText !== null) return;
    if (!this.area) this.makeJsonBox();
    this.area.value = readableJson(valueOfEntry(this.field, this.entry, this.defs));
    this.area.rows = Math.min(14, this.area.value.split("\n").length + 1);
  }

  followJson() {
    let value;
    try {
      value = exactJson(this.area.value);
      this.jsonText = null;
    } catch {
      this.jsonText = this.area.value;
    }
    const isBehind = this.jsonText !== null;
    this.jsonBad.textContent = isBehind ? "Not JSON yet: the fields above wait for it." : "";
    this.fieldBox.inert = isBehind;
    if (!isBehind) {
      this.entry = entryOfValue(this.field, value, this.defs);
      this.drawFields();
      this.message.textContent = "";
    }
    this.keep();
  }

  submit() {
    if (this.isBusy) return;
    this.showErrors({});
    this.setBusy(true);
    this.port.send({ kind: "answer", key: this.question.key, entry: this.entry, json: this.jsonText });
  }

  /** The kernel is gone: what was typed stays to be read and copied, and can't be sent. */
  lose(words) {
    this.setBusy(true);
    this.send.textContent = "Send answer";
    this.message.textContent = words;
  }

  get isBusy() {
    return this.send.disabled;
  }

  setBusy(isBusy) {
    this.send.disabled = isBusy;
    this.send.textContent = isBusy ? "Sending …" : "Send answer";
    for (const one of this.fieldBox.querySelectorAll("button")) one.disabled = isBusy;
  }

  /** Say what is wrong beside the field it belongs to. @param {Object<string, string>} errors by JSON pointer */
  showErrors(errors) {
    const spots = new Map();
    this.drawn.spots("", spots);
    if (this.jsonText !== null) spots.set("", { input: this.area, bad: this.jsonBad });
    const told = new Map();
    const rest = [];
    for (const [key, text] of Object.entries(errors)) {
      const [spot, below] = nearestSpot(spots, key);
      const said = below ? `${below} ${text}` : text;
      if (spot) told.set(spot, told.has(spot) ? `${told.get(spot)}; ${said}` : said);
      else rest.push(key ? `${said}.` : said);
    }
    let first = null;
    for (const place of spots.values()) {
      const text = told.get(place) ?? "";
      place.bad.textContent = visible(text);
      place.input.classList.toggle("adknb-run-wrong", Boolean(text));
      if (place.input.matches("input, textarea, select")) place.input.setAttribute("aria-invalid", String(Boolean(text)));
      if (text) first ??= place.input;
    }
    this.message.textContent = visible(rest.join(" "));
    if (!Object.keys(errors).length) return;
    this.setBusy(false);
    (first?.matches("div") ? first.querySelector("button") : first)?.focus();
  }
}

/** The place on the page where an error is told, and the names of what lies below it. */
function nearestSpot(spots, key) {
  const below = [];
  for (let at = key; ; at = at.slice(0, at.lastIndexOf("/"))) {
    if (spots.has(at)) return [spots.get(at), below.join(" › ")];
    if (!at) return [null, below.join(" › ")];
    below.unshift(at.slice(at.lastIndexOf("/") + 1).replaceAll("~1", "/").replaceAll("~0", "~"));
  }
}

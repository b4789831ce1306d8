/** The form of one open question. */

import { button, html, visible } from "./elements.js";
import { exactJson, valueView } from "./values.js";

// Each output of a page carries this module: ids must differ between them.
const FIELD_IDS = `adknb-field-${Math.random().toString(36).slice(2, 10)}`;
let fieldNumber = 0;

/** The keys of the fields whose values are secrets. */
function secretKeys(fields) {
  return fields.flatMap((one) => (one.kind === "secret" ? [one.key] : secretKeys(one.fields ?? [])));
}

/**
 * The form of one open question. Its values are kept as drafts, so that a redrawn page has them again; what is typed
 * into a secret field is kept nowhere but in the field, as drafts are a part of the widget's state, which is saved.
 */
export class QuestionForm {
  constructor(question, port, number, total) {
    this.question = question;
    this.port = port;
    const draft = port.drafts()[question.key] ?? {};
    this.values = { ...draft.values };
    this.jsonText = draft.json ?? null;
    this.element = html("form", "adknb-run-form");
    this.element.noValidate = true;
    const title = question.message || "Input is needed";
    const from = total > 1 ? `${question.node} asks · ${number} of ${total}` : `${question.node} asks`;
    this.element.append(html("h4", "", title), html("p", "adknb-run-soft", from));
    if (question.payload !== null) this.element.append(valueView(question.payload));
    this.fieldBox = html("div");
    this.message = html("div", "adknb-run-bad");
    this.message.setAttribute("role", "alert");
    this.element.append(this.fieldBox);
    const [first] = question.fields;
    this.sendsAtOnce = question.fields.length === 1 && first.key === "" && first.kind === "choice" && first.buttons;
    this.send = html("button", "adknb-run-primary", "Send answer");
    this.send.type = "submit";
    this.asJson = button("as JSON", "adknb-run-quiet", () => this.toggleJson());
    this.secrets = secretKeys(question.fields);
    this.element.append(this.message, html("div", "adknb-run-row", this.send, this.asJson));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.drawFields();
  }

  drawFields() {
    this.inputs = new Map();
    this.fieldBox.replaceChildren();
    this.asJson.textContent = this.jsonText === null ? "as JSON" : "as form";
    this.send.hidden = this.sendsAtOnce && this.jsonText === null;
    this.asJson.hidden = this.send.hidden || this.secrets.length > 0;
    if (this.jsonText === null) for (const field of this.question.fields) this.fieldBox.append(this.field(field));
    else this.fieldBox.append(this.jsonBox());
  }

  toggleJson() {
    this.jsonText = this.jsonText === null ? JSON.stringify(this.guess(), null, 1) : null;
    this.keep();
    this.drawFields();
    this.showErrors({});
  }

  /** The present values as JSON to start from. */
  guess() {
    const read = (field) => {
      const value = this.valueOf(field);
      if (value.state === "null") return null;
      if (value.state !== "value") return undefined;
      if (field.kind === "group") return Object.fromEntries(field.fields.map((one) => [lastStep(one.key), read(one)]));
      if (field.kind === "choice") return field.choices[Number(value.text)]?.value;
      if (!["integer", "number", "json"].includes(field.kind)) return value.text;
      try {
        return exactJson(value.text);
      } catch {
        return value.text;
      }
    };
    const { fields } = this.question;
    if (fields.length === 1 && fields[0].key === "") return read(fields[0]) ?? null;
    return Object.fromEntries(fields.map((field) => [lastStep(field.key), read(field)]));
  }

  jsonBox() {
    const area = html("textarea", "adknb-run-in adknb-run-code");
    area.rows = Math.min(12, this.jsonText.split("\n").length + 1);
    area.value = this.jsonText;
    area.spellcheck = false;
    area.addEventListener("input", () => {
      this.jsonText = area.value;
      this.keep();
    });
    this.inputs.set("", area);
    return this.labelled({ key: "", label: "Answer as JSON", required: true, help: "", hint: "" }, area);
  }

  valueOf(field) {
    return this.values[field.key] ?? field.initial;
  }

  set(field, value) {
    this.values[field.key] = value;
    this.keep();
  }

  keep() {
    const kept = Object.entries(this.values).filter(([key]) => !this.secrets.includes(key));
    this.port.draft(this.question.key, { values: Object.fromEntries(kept), json: this.jsonText });
  }

  field(field) {
    if (field.kind === "group") return this.group(field);
    if (field.kind === "choice") return this.labelled(field, field.buttons ? this.choiceButtons(field) : this.select(field));
    return this.labelled(field, this.text(field));
  }

  group(field) {
    const box = html("fieldset", "adknb-run-group", html("legend", "", field.label));
    const inner = html("div", "", ...field.fields.map((one) => this.field(one)));
    if (field.required && !field.nullable) {
      box.append(inner);
      return box;
    }
    const on = html("input");
    on.type = "checkbox";
    on.checked = this.valueOf(field).state === "value";
    inner.hidden = !on.checked;
    on.addEventListener("change", () => {
      inner.hidden = !on.checked;
      this.set(field, { state: on.checked ? "value" : field.required ? "null" : "missing" });
    });
    box.append(html("label", "adknb-run-check", on, "give it"), inner);
    return box;
  }

  choiceButtons(field) {
    const row = html("div", "adknb-run-row");
    row.setAttribute("role", "group");
    const mark = () => {
      const value = this.valueOf(field);
      [...row.children].forEach((one, index) => {
        const isOn = value.state === "value" && value.text === String(index);
        one.classList.toggle("adknb-run-primary", isOn || (this.sendsAtOnce && index === 0));
        if (!this.sendsAtOnce) one.setAttribute("aria-pressed", String(isOn));
      });
    };
    field.choices.forEach((choice, index) => {
      row.append(
        button(choice.label, "", () => {
          this.set(field, { state: "value", text: String(index) });
          mark();
          if (this.sendsAtOnce) this.submit();
        }),
      );
    });
    row.adknbRefresh = mark;
    mark();
    return row;
  }

  select(field) {
    const box = html("select", "adknb-run-in");
    const none = html("option", "", field.required ? "choose …" : "leave out");
    none.value = "";
    box.append(none);
    field.choices.forEach((choice, index) => {
      const option = html("option", "", choice.label);
      option.value = String(index);
      box.append(option);
    });
    box.adknbRefresh = () => {
      const value = this.valueOf(field);
      box.value = value.state === "value" ? value.text : "";
    };
    box.adknbRefresh();
    box.addEventListener("change", () => {
      this.set(field, box.value === "" ? { state: "missing" } : { state: "value", text: box.value });
      this.refreshStates(field);
    });
    return box;
  }

  text(field) {
    const kinds = { date: "date", time: "time", datetime: "datetime-local" };
    const isArea = ["text", "longtext", "json"].includes(field.kind);
    const box = html(isArea ? "textarea" : "input", "adknb-run-in");
    if (isArea) box.rows = field.kind === "text" ? 1 : 3;
    else box.type = field.kind === "secret" ? "password" : (kinds[field.kind] ?? "text");
    if (field.kind === "secret") box.autocomplete = "off";
    if (kinds[field.kind]) box.step = "any";
    if (field.kind === "integer") box.inputMode = "numeric";
    if (field.kind === "number") box.inputMode = "decimal";
    if (field.kind === "json") {
      box.classList.add("adknb-run-code");
      box.placeholder = "JSON";
      box.spellcheck = false;
    }
    const grow = () => {
      if (!isArea) return;
      box.style.height = "auto";
      if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight + 2, 260)}px`;
    };
    box.adknbRefresh = () => {
      const value = this.valueOf(field);
      box.value = value.state === "value" ? value.text : "";
      requestAnimationFrame(grow);
    };
    box.adknbRefresh();
    box.addEventListener("input", () => {
      this.set(field, box.value === "" ? { state: "missing" } : { state: "value", text: box.value });
      this.refreshStates(field);
      grow();
    });
    // Enter sends, as in any chat; Shift+Enter starts a new line.
    box.addEventListener("keydown", (event) => {
      const isSend = field.kind === "text" ? !event.shiftKey : event.ctrlKey || event.metaKey;
      if (isArea && event.key === "Enter" && isSend && !event.isComposing) {
        event.preventDefault();
        this.submit();
      }
    });
    return box;
  }

  labelled(field, input) {
    const id = `${FIELD_IDS}-${++fieldNumber}`;
    const isBox = input.matches("input, textarea, select");
    // An answer that is one value needs no name: the question stands above it.
    const name = field.key === "" && field.kind ? "adknb-run-label adknb-run-unseen" : "adknb-run-label";
    const label = html(isBox ? "label" : "div", name, field.label);
    if (field.required) {
      const star = html("i", "", " *");
      star.setAttribute("aria-hidden", "true");
      label.append(star);
    }
    const bad = html("div", "adknb-run-bad");
    bad.id = `${id}-bad`;
    if (isBox) {
      input.id = id;
      label.htmlFor = id;
      input.required = Boolean(field.required);
    } else {
      label.id = id;
      input.setAttribute("aria-labelledby", id);
    }
    input.setAttribute("aria-describedby", bad.id);
    const states = html("span", "adknb-run-states");
    this.inputs.set(field.key, { input, bad, states, field });
    if (field.kind) this.refreshStates(field);
    const help = [field.help, field.hint].filter(Boolean).join(" · ");
    const top = html("div", "adknb-run-labelrow", label, states);
    return html("div", "adknb-run-field", top, input, bad, ...(help ? [html("div", "adknb-run-help", help)] : []));
  }

  /** Chips for what an empty field can mean. */
  refreshStates(field) {
    const { states, input } = this.inputs.get(field.key);
    const value = this.valueOf(field);
    const chips = [];
    const isEmpty = value.state !== "value" || value.text === "";
    if (isEmpty && ["text", "longtext"].includes(field.kind)) chips.push(["empty text", { state: "value", text: "" }]);
    if (field.nullable) chips.push(["null", { state: "null" }]);
    states.replaceChildren(
      ...chips.map(([name, wanted]) => {
        const isOn = value.state === wanted.state && (value.text ?? "") === (wanted.text ?? "");
        const chip = button(name, `adknb-run-chip${isOn ? " adknb-run-on" : ""}`, () => {
          this.set(field, isOn ? { state: "missing" } : wanted);
          input.adknbRefresh?.();
          this.refreshStates(field);
        });
        chip.setAttribute("aria-pressed", String(isOn));
        return chip;
      }),
    );
  }

  submit() {
    const values = {};
    const gather = (field) => {
      values[field.key] = this.valueOf(field);
      (field.fields ?? []).forEach(gather);
    };
    this.question.fields.forEach(gather);
    if (this.isBusy) return;
    this.showErrors({});
    this.setBusy(true);
    this.port.send({ kind: "answer", key: this.question.key, values, json: this.jsonText });
  }

  /** The kernel is gone: what was typed stays to be read and copied, and can't be sent. */
  lose(words) {
    this.setBusy(true);
    this.send.textContent = "Send answer";
    this.asJson.disabled = true;
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

  showErrors(errors) {
    const own = new Map(this.inputs);
    let first = null;
    const rest = [];
    for (const [key, text] of Object.entries(errors)) {
      // Without its field beside it, what is wrong is told with the field's name.
      if (!own.get(key)?.bad) rest.push(key ? `${lastStep(key)} ${text}.` : text);
    }
    for (const [key, place] of own) {
      if (!place.bad) continue;
      const text = errors[key] ?? "";
      place.bad.textContent = visible(text);
      place.input.classList.toggle("adknb-run-wrong", Boolean(text));
      if (place.input.matches("input, textarea, select")) place.input.setAttribute("aria-invalid", String(Boolean(text)));
      if (text && !first) first = place.input;
    }
    this.message.textContent = visible(rest.join(" "));
    if (Object.keys(errors).length) {
      this.setBusy(false);
      (first?.matches("input, textarea, select") ? first : first?.querySelector("button"))?.focus();
    }
  }
}

function lastStep(key) {
  return key.split("/").pop().replaceAll("~1", "/").replaceAll("~0", "~");
}

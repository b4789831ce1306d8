/** A question whether a call may be made: the call shown readably, and two buttons in place of a form. */

import { button, html } from "./elements.js";
import { valueView } from "./value_view.js";
import { exactJson } from "./values.js";

/** The call that waits: the tool's name, its arguments as a table, and what the tool itself wants to be seen. */
export function callView({ name, args, shown }) {
  const box = html("div", "adknb-run-call");
  if (name) {
    box.append(html("div", "adknb-run-callname", html("code", "", name)));
    const isEmpty = args !== null && typeof args === "object" && Object.keys(args).length === 0;
    box.append(isEmpty ? html("p", "adknb-run-soft", "without arguments") : valueView(args));
  }
  if (shown !== null && shown !== undefined) box.append(valueView(shown));
  return box;
}

/** The question's words, or ours where it has none. */
export const approvalTitle = (question) =>
  question.message || (question.approval.name ? `May ${question.approval.name} be called?` : "Approve?");

export class ApprovalForm {
  constructor(question, port, number, total) {
    this.question = question;
    this.port = port;
    this.text = port.drafts()[question.key]?.json ?? "";
    const from = total > 1 ? `${question.node} asks · ${number} of ${total}` : `${question.node} asks for an approval`;
    this.approve = button("Approve", "adknb-run-primary", () => this.decide(true));
    this.reject = button("Reject", "adknb-run-danger", () => this.decide(false));
    this.message = html("div", "adknb-run-bad");
    this.message.setAttribute("role", "alert");
    this.element = html(
      "div",
      "adknb-run-form",
      html("h4", "", approvalTitle(question)),
      html("p", "adknb-run-soft", from),
      callView(question.approval),
      this.extra(),
      this.message,
      html("div", "adknb-run-row", this.approve, this.reject),
    );
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", approvalTitle(question));
  }

  /** Data to send along, which few calls want: folded away. */
  extra() {
    this.area = html("textarea", "adknb-run-in adknb-run-code");
    this.area.rows = 2;
    this.area.value = this.text;
    this.area.spellcheck = false;
    this.area.placeholder = "JSON";
    this.area.setAttribute("aria-label", "Data for the call, as JSON");
    this.area.addEventListener("input", () => {
      this.text = this.area.value;
      this.port.draft(this.question.key, { json: this.text });
    });
    const box = html("details", "adknb-run-more", html("summary", "", "send data along"), this.area);
    box.open = this.text !== "";
    return box;
  }

  decide(isConfirmed) {
    if (this.isBusy) return;
    this.showErrors({});
    let payload = "";
    if (this.text.trim()) {
      try {
        payload = JSON.stringify(exactJson(this.text));
      } catch {
        this.showErrors({ "": "The data to send along isn't JSON: a text stands in quotes." });
        this.area.focus();
        return;
      }
    }
    this.setBusy(isConfirmed ? this.approve : this.reject);
    const json = `{"confirmed":${isConfirmed}${payload && `,"payload":${payload}`}}`;
    this.port.send({ kind: "answer", key: this.question.key, entry: null, json });
  }

  get isBusy() {
    return this.approve.disabled;
  }

  /** @param {?HTMLButtonElement} pressed the button that was pressed, nothing to take decisions again */
  setBusy(pressed) {
    this.approve.disabled = this.reject.disabled = Boolean(pressed);
    this.approve.textContent = pressed === this.approve ? "Sending …" : "Approve";
    this.reject.textContent = pressed === this.reject ? "Sending …" : "Reject";
  }

  lose(words) {
    this.setBusy(this.element);
    this.message.textContent = words;
  }

  showErrors(errors) {
    this.message.replaceChildren(html("span", "", Object.values(errors).join(" ")));
    if (Object.keys(errors).length) this.setBusy(null);
  }
}

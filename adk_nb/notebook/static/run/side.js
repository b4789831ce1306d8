/** What stands beside the graph: open forms first, then how it ended, then answers given. */

import { ApprovalForm, approvalTitle, callView } from "./approval.js";
import { html } from "./elements.js";
import { QuestionForm } from "./form.js";
import { titleView } from "./prose.js";
import { resultView, valueView } from "./value_view.js";
import { errorView, said } from "./values.js";
import { clock } from "./words.js";

const LOST =
  "This form can't be sent any more. A run that is kept in a file goes on where it is: " +
  "adk.open_run(session_id, root) asks again.";

/** How an open question is answered where no kernel listens. */
function unreached(question) {
  const codes = question.approval ? ["await run.approve()", "await run.reject()"] : ["await run.respond(…)"];
  const either = codes.flatMap((code, index) => [...(index ? [" or "] : []), html("code", "", code)]);
  const before = "Not answered yet, and no kernel is linked with this copy. While the kernel that asked is running, ";
  const again = html("code", "", "adk.open_run(session_id, root)");
  return html("p", "adknb-run-soft", before, ...either, " answers it; after a restart, ", again, " asks again.");
}

/** An answer that fits on a chip. */
function isShort(answer) {
  const isNamed = answer !== null && typeof answer === "object" && !Array.isArray(answer);
  const text = said(answer);
  return !isNamed && text.length <= 120 && !text.includes("\n");
}

/** An answer on its own; yes and no as they were asked for. */
export function givenWord(answer) {
  return typeof answer === "boolean" ? (answer ? "Yes" : "No") : said(answer);
}

/** A question without a form: answered, or open where no kernel listens. */
function questionView(question) {
  const { approval, answer } = question;
  const title = approval ? approvalTitle(question) : question.message || "Input is needed";
  const box = html("div", "adknb-run-form", ...titleView(title));
  const shown = approval ? callView(approval) : question.payload === null ? null : valueView(question.payload);
  if (question.answered === null) {
    box.append(html("p", "adknb-run-soft", `${question.node} asks · open`), ...(shown ? [shown] : []));
    box.append(unreached(question));
    return box;
  }
  box.classList.add("adknb-run-answered");
  box.append(html("p", "adknb-run-soft", `${question.node} asked · answered at ${clock(question.answered)}`));
  if (approval && answer !== null && typeof answer === "object" && typeof answer.confirmed === "boolean") {
    const word = html("div", "adknb-run-given", answer.confirmed ? "Approved" : "Rejected");
    word.classList.toggle("adknb-run-refused", !answer.confirmed);
    box.append(word);
    if (answer.payload !== null && answer.payload !== undefined) box.append(valueView(answer.payload));
  } else {
    box.append(isShort(answer) ? html("div", "adknb-run-given", givenWord(answer)) : valueView(answer));
  }
  if (shown) box.append(html("details", "adknb-run-more", html("summary", "", "what was shown"), shown));
  return box;
}

export class SidePane {
  constructor() {
    this.element = html("div", "adknb-run-side");
    this.forms = new Map();
    this.drawn = "";
  }

  draw(state, port, isSettled) {
    const questions = [...state.questions.values()];
    const open = questions.filter((question) => question.answered === null);
    const answered = questions.filter((question) => question.answered !== null);
    // Forms stay as they are while somebody types: only a change of what is shown redraws.
    const shown = JSON.stringify([
      Boolean(port),
      Boolean(state.lost),
      isSettled,
      open.map((question) => question.key),
      answered.map((question) => question.key),
      state.result,
      state.error,
    ]);
    if (shown === this.drawn) return;
    this.drawn = shown;
    const hadFocus = this.element.contains(document.activeElement) ? document.activeElement : null;
    const parts = [];
    if (state.error) parts.push(errorView(state.error));
    if (isSettled || !port) this.forms.clear();
    for (const key of this.forms.keys()) if (!open.some((question) => question.key === key)) this.forms.delete(key);
    open.forEach((question, index) => {
      if (!port || isSettled) return parts.push(questionView(question));
      if (!this.forms.has(question.key)) {
        const Form = question.approval ? ApprovalForm : QuestionForm;
        this.forms.set(question.key, new Form(question, port, index + 1, open.length));
      }
      const form = this.forms.get(question.key);
      if (state.lost) form.lose(LOST);
      return parts.push(form.element);
    });
    if (state.result) parts.push(html("div", "adknb-run-card", html("h4", "", "Result"), resultView(state.result)));
    parts.push(...answered.reverse().slice(0, 50).map(questionView));
    this.element.replaceChildren(...parts);
    this.element.hidden = parts.length === 0;
    if (hadFocus && this.element.contains(hadFocus)) hadFocus.focus({ preventScroll: true });
  }
}

/** A warning with its node's name, which many begin with. */
export function warningView({ node, message }) {
  const rest = message.startsWith(`${node} `) ? message.slice(node.length) : `: ${message}`;
  return node ? html("div", "", html("b", "", node), rest) : html("div", "", message);
}

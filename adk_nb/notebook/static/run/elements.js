/** Building blocks: elements, texts that show all of themselves, keys that stay in the view. */

/** @param {string} tag @param {string} [name] @param {...(Node|string)} children */
export function html(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** A text in which what acts instead of showing (control characters, turned directions) stands as its escape. */
export function visible(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu, (c) => {
    if (c === "\r") return "";
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

export function button(label, name, act) {
  const element = html("button", name, label);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

/**
 * Keep what is typed into the view from JupyterLab, which runs the cell on Shift+Enter, deletes it on D D and takes line
 * breaks away. Lab listens in the capture phase, on the document or on the notebook, and passes over keys in an element
 * with this attribute: in the very one that has the focus, as Lab's commands for letters are about a focused element that
 * takes no text, such as a button. The window's capture phase comes before both. Saving stays Lab's.
 */
export function keepKeys(root) {
  const mark = (event) => {
    const isSave = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !isSave);
  };
  const passBy = (event) => event.inputType === "insertLineBreak" && event.stopPropagation();
  root.addEventListener("focusin", () => {
    window.addEventListener("keydown", mark, true);
    window.addEventListener("beforeinput", passBy, true);
  });
  root.addEventListener("focusout", () => {
    window.removeEventListener("keydown", mark, true);
    window.removeEventListener("beforeinput", passBy, true);
  });
}

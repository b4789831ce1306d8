/** Controls of fields that hold other fields: groups, lists, dictionaries, and unions of several shapes. */

import { button, html } from "./elements.js";
import { control, labelled, nextFieldId } from "./form_controls.js";
import { MISSING, memberEntry, otherOf, placeOf, wholeField } from "./form_values.js";

const stepOf = (name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Put the focus where something can be filled in, else on what stands in. */
function focusInside(element, instead) {
  const found = element?.querySelector("input, textarea, select") ?? element?.querySelector("button") ?? instead;
  found?.focus();
}

/** What a nested field holds when it is filled in for the first time. */
function startOf(field) {
  if (field.kind === "list") {
    const rows = Math.max(field.rows, 0);
    return { state: "value", items: Array.from({ length: rows }, (_, at) => placeOf(field, at).initial) };
  }
  if (field.kind === "dict") return { state: "value", pairs: [] };
  return { state: "value", fields: {} };
}

/**
 * A frame with a name around fields. Where the value may be left out or null, chips say which; `fill` draws what is
 * inside for an entry that is there and returns its `spots`.
 */
function framed(field, entry, put, fill) {
  const frame = html("fieldset", "adknb-run-group");
  const legend = html("legend", "", field.label);
  if (field.required && !field.isRow) legend.append(html("i", "", " *"));
  const bad = html("div", "adknb-run-bad");
  bad.id = `${nextFieldId()}-bad`;
  frame.setAttribute("aria-describedby", bad.id);
  frame.tabIndex = -1;
  const inside = html("div", "adknb-run-inner");
  const chips = html("div", "adknb-run-states adknb-run-shown");
  const said = [field.help, field.hint].filter(Boolean).join(" · ");
  let kept = entry.state === "value" ? entry : null;
  let spots = () => {};
  const show = (now) => {
    const isThere = now.state === "value";
    const states = [["fill in", () => kept ?? startOf(field), isThere]];
    if (!field.required) states.push(["leave out", () => MISSING, now.state === "missing"]);
    if (field.nullable) states.push(["null", () => ({ state: "null" }), now.state === "null"]);
    const isPlain = states.length === 1 && isThere;
    chips.replaceChildren(
      ...(isPlain ? [] : states).map(([name, next, isOn], index) => {
        const chip = button(name, `adknb-run-chip${isOn ? " adknb-run-on" : ""}`, () => {
          const then = next();
          keep(then);
          show(then);
          if (name === "fill in") focusInside(inside, chips.children[index]);
          else chips.children[index].focus();
        });
        chip.setAttribute("aria-pressed", String(isOn));
        return chip;
      }),
    );
    inside.replaceChildren();
    spots = isThere ? fill(inside, now, keep) : () => {};
  };
  const keep = (now) => {
    if (now.state === "value") kept = now;
    put(now);
  };
  frame.append(legend, ...(said ? [html("div", "adknb-run-help", said)] : []), chips, bad, inside);
  show(entry);
  return {
    element: frame,
    spots(key, into) {
      into.set(key, { input: frame, bad, label: field.label });
      spots(key, into);
    },
  };
}

/** The fields of an object, one below the other, and rows for keys that have no field. */
export function groupControl(field, entry, put, form) {
  const fill = (inside, now, keep) => {
    let whole = { ...now, fields: { ...now.fields } };
    const parts = field.fields
      .filter((one) => !field.hidden?.includes(one.name))
      .map((one) => {
        const drawn = control(one, memberEntry(whole, one), (next) => {
          whole = { ...whole, fields: { ...whole.fields, [one.name]: next } };
          keep(whole);
        }, form);
        inside.append(drawn.element);
        return [one.name, drawn];
      });
    let rest = null;
    if (field.others || whole.pairs?.length) {
      rest = pairRows(field, whole, (pairs) => keep((whole = { ...whole, pairs })), form);
      inside.append(rest.element);
    }
    return (key, into) => {
      for (const [name, drawn] of parts) drawn.spots(key + stepOf(name), into);
      rest?.spots(key, into);
    };
  };
  if (!field.isRoot) return framed(field, entry, put, fill);
  const inside = html("div");
  const spots = fill(inside, entry, put);
  return { element: inside, spots };
}

/** One row of a list or a dictionary, with buttons that act on it. */
function rowOf(drawn, before, ...buttons) {
  return html("div", "adknb-run-item", ...before, html("div", "adknb-run-itembody", drawn.element), html("div", "adknb-run-itemtools", ...buttons));
}

function tool(sign, label, act) {
  const made = button(sign, "adknb-run-quiet adknb-run-small", act);
  made.setAttribute("aria-label", label);
  made.title = label;
  return made;
}

/** The rows of a list. */
export function listControl(field, entry, put, form) {
  const fill = (inside, now, keep) => {
    let items = [...(now.items ?? [])];
    let drawn = [];
    const rows = html("div");
    const fixed = field.first.length;
    const change = (next, focusAt) => {
      items = next;
      keep({ state: "value", items: [...items] });
      draw();
      focusInside(rows.children[focusAt], add);
    };
    const swapped = (at, to) => {
      const next = [...items];
      [next[at], next[to]] = [next[to], next[at]];
      change(next, to);
    };
    const draw = () => {
      drawn = items.map((item, at) => {
        const place = placeOf(field, at);
        const isFixed = at < fixed;
        const name = isFixed && place.label !== String(at + 1) ? place.label : `${field.label || "Item"} ${at + 1}`;
        const isScalar = !["group", "list", "dict", "union"].includes(wholeField(place, form.defs).kind);
        const shown = { ...place, label: name, unseen: isScalar && !isFixed, isRow: !isFixed };
        return control(shown, item, (next) => {
          items[at] = next;
          keep({ state: "value", items: [...items] });
        }, form);
      });
      rows.replaceChildren(
        ...drawn.map((one, at) => {
          const tools = [];
          if (at > fixed) tools.push(tool("↑", `Move ${field.label} ${at + 1} up`, () => swapped(at, at - 1)));
          if (at >= fixed && at < items.length - 1) tools.push(tool("↓", `Move ${field.label} ${at + 1} down`, () => swapped(at, at + 1)));
          if (at >= fixed) tools.push(tool("✕", `Remove ${field.label} ${at + 1}`, () => change(items.filter((_, other) => other !== at), Math.min(at, items.length - 2))));
          return rowOf(one, [], ...tools);
        }),
      );
    };
    const add = button("+ add", "adknb-run-quiet adknb-run-small", () => change([...items, placeOf(field, items.length).initial], items.length));
    add.setAttribute("aria-label", `Add to ${field.label}`);
    inside.append(rows);
    if (field.item) inside.append(add);
    draw();
    return (key, into) => drawn.forEach((one, at) => one.spots(`${key}/${at}`, into));
  };
  return framed(field, entry, put, fill);
}

/** Rows of a key and what it holds. `keep` takes all pairs after a change. */
function pairRows(field, entry, keep, form) {
  let pairs = [...(entry.pairs ?? [])];
  let drawn = [];
  const rows = html("div");
  const change = (next, focusAt) => {
    pairs = next;
    keep(pairs);
    draw();
    focusInside(rows.children[focusAt], add);
  };
  const draw = () => {
    drawn = pairs.map(([name, one], at) => {
      const place = otherOf(field);
      const shown = { ...place, label: `Value of ${name || "the new key"}`, unseen: true, isRow: true };
      const put = (next) => {
        pairs[at] = [pairs[at][0], next];
        keep([...pairs]);
      };
      return control(shown, one, put, form);
    });
    rows.replaceChildren(
      ...drawn.map((one, at) => {
        const key = html("input", "adknb-run-in adknb-run-key-in");
        key.type = "text";
        key.value = pairs[at][0];
        key.placeholder = "key";
        key.setAttribute("aria-label", `Key ${at + 1} of ${field.label}`);
        key.addEventListener("input", () => {
          pairs[at] = [key.value, pairs[at][1]];
          keep([...pairs]);
        });
        return rowOf(one, [key], tool("✕", `Remove ${pairs[at][0] || `key ${at + 1}`}`, () => change(pairs.filter((_, other) => other !== at), at)));
      }),
    );
  };
  const add = button("+ add a key", "adknb-run-quiet adknb-run-small", () => change([...pairs, ["", otherOf(field).initial]], pairs.length));
  draw();
  return {
    element: html("div", "adknb-run-pairs", rows, add),
    spots: (key, into) => drawn.forEach((one, at) => one.spots(key + stepOf(pairs[at][0]), into)),
  };
}

export function dictControl(field, entry, put, form) {
  return framed(field, entry, put, (inside, now, keep) => {
    const rows = pairRows(field, now, (pairs) => keep({ state: "value", pairs: [...pairs] }), form);
    inside.append(rows.element);
    return rows.spots;
  });
}

/** Which of several shapes the value has, and then its fields. What was filled into another shape stays. */
export function unionControl(field, entry, put, form) {
  const held = new Map();
  if (entry.state === "value") held.set(entry.variant, entry.entry);
  let inner = null;
  const inside = html("div", "adknb-run-inner");
  const states = html("span", "adknb-run-states");
  const show = (now) => {
    const chosen = now.state === "value" ? now.variant : -1;
    mark(chosen);
    inner = null;
    inside.replaceChildren();
    const chips = field.nullable ? [["null", { state: "null" }]] : [];
    states.replaceChildren(
      ...chips.map(([name, wanted]) => {
        const isOn = now.state === wanted.state;
        const chip = button(name, `adknb-run-chip${isOn ? " adknb-run-on" : ""}`, () => change(isOn ? MISSING : wanted));
        chip.setAttribute("aria-pressed", String(isOn));
        return chip;
      }),
    );
    if (chosen < 0) return;
    const variant = field.variants[chosen];
    const whole = wholeField(variant.field, form.defs);
    const isFrame = ["group", "list", "dict", "union"].includes(whole.kind);
    const shown = { ...whole, label: isFrame ? variant.label : field.label, unseen: true, hidden: variant.fixed, isRoot: whole.kind === "group" };
    inner = control(shown, now.entry, (next) => {
      held.set(chosen, next);
      put({ state: "value", variant: chosen, entry: next });
    }, form);
    inside.append(inner.element);
  };
  const change = (next) => {
    put(next);
    show(next);
  };
  const choose = (number) => {
    if (!held.has(number)) held.set(number, field.variants[number].start);
    change({ state: "value", variant: number, entry: held.get(number) });
  };
  const { picker, mark } = variantPicker(field, choose, () => change(MISSING));
  show(entry);
  const frame = labelled(field, picker, states);
  frame.element.append(inside);
  return {
    element: frame.element,
    spots(key, into) {
      frame.spots(key, into);
      inner?.spots(key, into);
    },
  };
}

/** Buttons for few shapes, a list for many; `mark` shows which is chosen. */
function variantPicker(field, choose, clear) {
  const labels = field.variants.map((one) => one.label);
  if (labels.length > 5 || labels.join("").length > 40) {
    const picker = html("select", "adknb-run-in");
    [field.required ? "choose …" : "leave out", ...labels].forEach((label, index) => {
      const option = html("option", "", label);
      option.value = String(index - 1);
      picker.append(option);
    });
    picker.addEventListener("change", () => (picker.value === "-1" ? clear() : choose(Number(picker.value))));
    return { picker, mark: (chosen) => (picker.value = String(chosen)) };
  }
  const picker = html("div", "adknb-run-row");
  picker.setAttribute("role", "group");
  let present = -1;
  const made = labels.map((label, index) => button(label, "adknb-run-small", () => (index === present && !field.required ? clear() : choose(index))));
  picker.append(...made);
  const mark = (chosen) => {
    present = chosen;
    made.forEach((one, index) => {
      one.classList.toggle("adknb-run-primary", index === chosen);
      one.setAttribute("aria-pressed", String(index === chosen));
    });
  };
  return { picker, mark };
}

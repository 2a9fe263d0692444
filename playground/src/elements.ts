// Builds parts of the page.

type Child = Node | string | false | undefined;

/** Makes an element with properties, attributes (names with a dash, and `role`) and children. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") {
      element.setAttribute(name, String(value));
    } else {
      Object.assign(element, { [name]: value });
    }
  }
  element.append(...children.filter((child) => typeof child === "string" || child instanceof Node));
  return element;
}

export function button(text: string, onclick: () => unknown, properties: Record<string, unknown> = {}): HTMLButtonElement {
  return make("button", { type: "button", onclick, ...properties }, text);
}

/** Makes a text that the keyboard can scroll. */
export function scrolled(label: string, ...children: Child[]): HTMLElement {
  return make("pre", { tabIndex: 0, role: "region", "aria-label": label }, ...children);
}

/** Returns the element of the page with an id. */
export function find<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

/** Shows a dialog with a title, until it is closed. */
export function show(title: string, ...children: (Node | string)[]): HTMLDialogElement {
  const dialog = find<HTMLDialogElement>("dialog");
  const close = button("Close", () => dialog.close());
  dialog.replaceChildren(make("div", { className: "bar" }, make("h2", { id: "dialog-title" }, title), close), ...children);
  if (!dialog.open) {
    dialog.showModal();
  }
  dialog.scrollTop = 0;
  return dialog;
}

/** Copies a text, and says so. */
export async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  await navigator.clipboard.writeText(text);
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = before), 1500);
}

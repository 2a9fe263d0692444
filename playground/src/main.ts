// The page: its files, the runs over them, and what the runs printed.

import type { Diagnostic } from "@codemirror/lint";
import type { Finding, Place, Report } from "../../npm/src/index.js";
import { decode, encode, type State } from "./address.js";
import { Calculator } from "./calculator.js";
import { chosen, dropped } from "./dropped.js";
import { Editor } from "./editor.js";
import { button, copy, find, make, scrolled, show } from "./elements.js";
import { EXAMPLES } from "./examples.js";
import { list, offset, propose } from "./findings.js";
import { load, start } from "./program.js";
import "./style.css";

let state: State = { files: {}, open: "", pedantic: false };
let report: Report | undefined;
/** Counts changes: the result of an older run is not shown. */
let change = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

const editor = new Editor(find("editor"), {
  changed(text) {
    state.files[state.open] = text;
    later();
  },
  asked: (line) => explain(line),
});
const calculator = new Calculator(find("calculator"), start);
const actions = { jump, page, accept, calculate };

/** Runs the checks soon after the last change. */
function later(): void {
  clearTimeout(timer);
  timer = setTimeout(check, 300);
}

function say(text: string): void {
  find("status").textContent = text;
}

/** Runs `work`, and shows why it failed. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    say(`sqslint: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

function args(command: string, ...more: string[]): string[] {
  return [command, ...more, ...(state.pedantic && command === "check" ? ["--pedantic"] : [])];
}

async function check(): Promise<void> {
  clearTimeout(timer);
  const own = ++change;
  say("Checking…");
  const result = await attempt(() => start(args("check", "--format", "json"), state.files));
  if (own !== change) {
    return;
  }
  report = result === undefined || result.out === "" ? undefined : (JSON.parse(result.out) as Report);
  find("findings").replaceChildren(...(report ? list(report, result?.err ?? "", state.files, actions) : []));
  editor.mark(marks());
  if (result !== undefined) {
    const { errors = 0, warnings = 0, infos = 0 } = report?.summary ?? {};
    say(report ? [counted(errors, "error"), counted(warnings, "warning"), counted(infos, "info")].join(", ") : result.err);
  }
  const address = await encode(state);
  if (own === change && !find("files").hidden) {
    history.replaceState(null, "", address ?? "#");
    await draw();
  }
}

/** Returns the marks of the open file. */
function marks(): Diagnostic[] {
  const text = state.files[state.open] ?? "";
  return (report?.findings ?? []).flatMap(({ labels, message, rule, severity }) =>
    labels
      .filter((label) => label.file === state.open)
      .map((label) => ({
        from: offset(text, label.offset),
        to: offset(text, label.end_offset),
        severity: label.primary ? severity : ("hint" as const),
        message: label.primary ? message : label.message,
        source: rule,
      })),
  );
}

async function draw(): Promise<void> {
  const place = find("graph");
  if (place.hidden) {
    return;
  }
  const result = await attempt(() => start(["graph", "--format", "svg"], state.files));
  if (result?.exit === 0) {
    const names = await attempt(() => start(["graph"], state.files));
    // As a picture, it runs nothing and loads nothing.
    const picture = make("img", { src: `data:image/svg+xml,${encodeURIComponent(result.out)}`, alt: "Queues and what reads them, as in the text below" });
    place.replaceChildren(picture, scrolled("Graph", names?.out ?? ""));
  } else {
    place.replaceChildren(scrolled("Graph", result?.err ?? ""));
  }
}

async function explain(line: number): Promise<void> {
  view("explain");
  const result = await attempt(() => start(["explain", `${state.open}:${line}`, "."], state.files));
  find("explain").replaceChildren(scrolled("Explanation", result ? result.out || result.err : ""));
}

/** Shows the page of a rule. */
async function page(rule: string): Promise<void> {
  const result = await attempt(() => start(["explain", rule]));
  const text = result?.out ?? "";
  const lines = text.split("\n").map((line) => make(/^\S/.test(line) ? "strong" : "span", {}, `${line}\n`));
  const isTiming = text.includes("visibility timeout calculator");
  show(rule, scrolled(`Page of ${rule}`, ...lines), ...(isTiming ? [button("Open the calculator", () => calculate())] : []));
}

function open(name: string): void {
  state.open = name;
  const tabs = Object.keys(state.files).map((file) =>
    button(file, () => (open(file), later()), { "aria-pressed": file === name }),
  );
  find("names").replaceChildren(...tabs, button("+", add, { "aria-label": "New file" }), button("−", remove, { "aria-label": `Remove ${name}` }));
  editor.open(name, state.files[name] ?? "");
  editor.mark(marks());
}

function add(): void {
  const name = make("input", { type: "text", required: true, value: "main.tf" });
  const create = () => {
    dialog.close();
    state.files[name.value] ??= "";
    open(name.value);
  };
  const dialog = show("New file", make("label", {}, "Path ", name), " ", button("Create", create));
}

function remove(): void {
  delete state.files[state.open];
  replace(Object.keys(state.files).length > 0 ? state.files : { "main.tf": "" });
}

/** Replaces all files. */
function replace(files: Record<string, string>): Promise<void> {
  state.files = files;
  open(Object.keys(files)[0] ?? "");
  return check();
}

function jump(place: Place): void {
  open(place.file);
  const text = state.files[place.file] ?? "";
  editor.select(offset(text, place.offset), offset(text, place.end_offset));
}

function accept(files: Record<string, string>): void {
  Object.assign(state.files, files);
  open(state.open);
  void check();
}

/** Proposes all fixes at once, as `--fix --unsafe-fixes` makes them. */
async function fixAll(): Promise<void> {
  const result = await attempt(() => start(args("check", "--fix", "--unsafe-fixes"), state.files));
  const texts = Object.entries(result?.files ?? {}).map(([name, bytes]) => [name, new TextDecoder().decode(bytes)] as const);
  const changed = texts.filter(([name, text]) => name in state.files && state.files[name] !== text);
  if (changed.length > 0) {
    propose("All fixes", "made of safe and unsafe ones", Object.fromEntries(changed), state.files, actions);
  } else if (result !== undefined) {
    say("No finding has a fix.");
  }
}

function view(name: string): void {
  for (const tab of document.querySelectorAll<HTMLElement>("[data-view]")) {
    const isShown = tab.dataset.view === name;
    tab.ariaPressed = `${isShown}`;
    find(tab.dataset.view ?? "").hidden = !isShown;
  }
}

function tool(name: string): void {
  for (const tab of document.querySelectorAll<HTMLElement>("[data-tool]")) {
    const isShown = tab.dataset.tool === name;
    tab.ariaPressed = `${isShown}`;
    find(tab.dataset.tool ?? "").hidden = !isShown;
  }
}

/** Opens the calculator, with the times of a finding. */
function calculate(finding?: Finding): void {
  find<HTMLDialogElement>("dialog").close();
  tool("calculator");
  calculator.open(finding && calculator.settingsOf(finding));
}

async function openAddress(): Promise<void> {
  if (location.hash.startsWith("#calculator")) {
    tool("calculator");
    calculator.open(location.hash.slice("#calculator".length));
    return;
  }
  tool("files");
  const shared = await attempt(() => decode(location.hash));
  const [name] = EXAMPLES.keys();
  state = shared ?? { ...state, files: { ...EXAMPLES.get(name ?? "") } };
  find<HTMLInputElement>("pedantic").checked = state.pedantic;
  open(state.files[state.open] === undefined ? (Object.keys(state.files)[0] ?? "") : state.open);
  if (shared !== undefined || location.hash.length < 2) {
    await check();
  }
}

/** Takes files that the user chose or dropped. */
async function take(files: Promise<Record<string, string>>): Promise<void> {
  const read = await attempt(() => files);
  if (read !== undefined) {
    tool("files");
    await replace(read);
  }
}

const example = find<HTMLSelectElement>("example");
example.append(...[...EXAMPLES.keys()].map((name) => make("option", {}, name)));
example.onchange = () => replace({ ...EXAMPLES.get(example.value) });
for (const [opener, input] of [["choose-folder", "folder"], ["choose-files", "some-files"]] as const) {
  const list = find<HTMLInputElement>(input);
  find(opener).onclick = () => list.click();
  list.onchange = () => take(chosen(list.files ?? []));
}
find<HTMLInputElement>("pedantic").onchange = (event) => {
  state.pedantic = (event.target as HTMLInputElement).checked;
  void check();
};
find("fix-all").onclick = fixAll;
find("share").onclick = async () => {
  const address = await encode(state);
  if (address === undefined) {
    say("These files are too large for a link.");
  } else {
    await copy(location.href.replace(/#.*|$/, address), find<HTMLButtonElement>("share"));
  }
};
for (const tab of document.querySelectorAll<HTMLElement>("[data-view]")) {
  tab.onclick = () => {
    view(tab.dataset.view ?? "");
    void draw();
  };
}
for (const tab of document.querySelectorAll<HTMLElement>("[data-tool]")) {
  tab.onclick = () => {
    if (tab.dataset.tool === "calculator") {
      calculate();
    } else {
      tool("files");
      void (state.open === "" ? openAddress() : check());
    }
  };
}
addEventListener("hashchange", openAddress);
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer !== null) {
    void take(dropped(event.dataTransfer.items));
  }
});
if ("serviceWorker" in navigator && location.protocol !== "file:") {
  void attempt(() => navigator.serviceWorker.register("offline.js"));
}
void attempt(load);
void openAddress();

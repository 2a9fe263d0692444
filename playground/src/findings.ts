// Shows the findings of a report, and what can be done about each.

import type { Finding, Place, Report } from "../../npm/src/index.js";
import { button, make, scrolled, show } from "./elements.js";

export interface Actions {
  jump(place: Place): void;
  page(rule: string): void;
  /** Makes the edits of a finding, which the user accepted. */
  accept(files: Record<string, string>): void;
  calculate(finding: Finding): void;
}

export function list(report: Report, err: string, files: Record<string, string>, actions: Actions): HTMLElement[] {
  const errors = report.errors.map((error) => make("p", { className: "error" }, error));
  const articles = report.findings.map((finding) => article(finding, files, actions));
  return [...errors, ...articles, scrolled("Summary", err.replaceAll(/^sqslint: /gm, ""))];
}

function article(finding: Finding, files: Record<string, string>, actions: Actions): HTMLElement {
  const labels = finding.labels.map((label) =>
    make("li", {}, button(`${label.file}:${label.line}`, () => actions.jump(label), { className: "link" }), ` ${label.message}`),
  );
  const facts = [
    ["calculation", finding.calculation],
    ["timeline", finding.timeline && timeline(finding)],
    ["if", finding.when],
    ["help", finding.help],
  ] as const;
  const terms = facts.flatMap(([name, value]) => (value ? [make("dt", {}, name), make("dd", {}, value)] : []));
  const { fix, rule, edits } = finding;
  return make(
    "article",
    { className: finding.severity },
    make("h2", {}, make("span", {}, finding.severity), ` ${finding.message}`),
    make("ul", {}, ...labels),
    make("dl", {}, ...terms),
    make(
      "div",
      { className: "bar" },
      button(rule, () => actions.page(rule), { "aria-label": `Page of ${rule}` }),
      fix !== null && edits.length > 0 && button("Show the fix", () => propose(fix.title, fix.safety, edited(finding, files), files, actions)),
      finding.timeline !== null && button("Open the calculator", () => actions.calculate(finding)),
    ),
  );
}

function timeline({ timeline }: Finding): string {
  const events = timeline?.events.map(({ milliseconds, message }) => `${clock(milliseconds)} ${message}`) ?? [];
  return `${events.join(" · ")}: ${timeline?.summary}`;
}

/** Formats a time as the program does: minutes and seconds, with hours if there are any. */
export function clock(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, at) => (at === 0 ? `${part}` : `${part}`.padStart(2, "0"))).join(":");
}

/** Converts an offset in bytes of UTF-8. */
export function offset(text: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).length;
}

/** Returns the texts of the files that the fix of a finding changes. */
function edited({ edits }: Finding, files: Record<string, string>): Record<string, string> {
  const changed: Record<string, string> = {};
  // From the end, so that offsets stay right.
  for (const edit of edits.toSorted((a, b) => b.offset - a.offset)) {
    const [before, text] = [files[edit.file] ?? "", changed[edit.file] ?? files[edit.file] ?? ""];
    changed[edit.file] = text.slice(0, offset(before, edit.offset)) + edit.text + text.slice(offset(before, edit.end_offset));
  }
  return changed;
}

/** Shows what a fix changes, and makes the change if the user accepts it. */
export function propose(
  title: string,
  safety: string,
  changed: Record<string, string>,
  files: Record<string, string>,
  actions: Pick<Actions, "accept">,
): void {
  const lines = Object.entries(changed).flatMap(([name, text]) => [
    make("span", { className: "dim" }, `${name}\n`),
    ...difference(files[name] ?? "", text),
  ]);
  const accept = () => {
    dialog.close();
    actions.accept(changed);
  };
  const dialog = show(title, make("p", {}, `This fix is ${safety}.`), scrolled("Changes", ...lines), button("Accept", accept));
}

/** Compares two texts by their lines, with two lines around each change. */
export function difference(before: string, after: string): HTMLElement[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const signed: [sign: string, line: string][] = [];
  let [left, right] = [0, 0];
  while (left < old.length || right < now.length) {
    if (old[left] === now[right] && left < old.length) {
      signed.push([" ", old[left] ?? ""]);
      left += 1;
      right += 1;
      continue;
    }
    const [removed, added] = apart(old.slice(left), now.slice(right));
    signed.push(...old.slice(left, left + removed).map((line): [string, string] => ["-", line]));
    signed.push(...now.slice(right, right + added).map((line): [string, string] => ["+", line]));
    left += removed;
    right += added;
  }
  const isNear = (_: unknown, at: number) => signed.slice(Math.max(0, at - 2), at + 3).some(([sign]) => sign !== " ");
  const classes: Record<string, string> = { "+": "added", "-": "removed", " ": "" };
  return signed.filter(isNear).map(([sign, line]) => make("span", { className: classes[sign] }, `${sign} ${line}\n`));
}

/** Returns how many lines of each text come before the next line that both have and that is not empty. */
function apart(old: string[], now: string[]): [number, number] {
  for (let sum = 1; sum < old.length + now.length; sum += 1) {
    for (let removed = Math.max(0, sum - now.length); removed <= Math.min(sum, old.length); removed += 1) {
      const [left, right] = [old[removed], now[sum - removed]];
      if (left === right && left?.trim()) {
        return [removed, sum - removed];
      }
    }
  }
  return [old.length, now.length];
}

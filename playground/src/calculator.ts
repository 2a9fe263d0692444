// The calculator: what a queue does with its slowest message, and with weeks of messages, as its settings change.

import type { Finding, TimelineEvent } from "../../npm/src/index.js";
import type { Run } from "../../npm/src/run.js";
import { button, copy, make, scrolled } from "./elements.js";
import { clock } from "./findings.js";
import { lines, type Settings } from "./lines.js";

/** Positions of a slider: close to each other where settings differ by seconds. */
const TIMES = [
  0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 120, 150, 180, 240, 280, 300, 360, 450, 600, 720, 900,
  1200, 1500, 1800, 2400, 2700, 3600, 5400, 7200, 10800, 14400, 21600, 43200,
];
const COUNTS = [0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];

interface Field {
  name: keyof Settings;
  label: string;
  unit: string;
  least: number;
  most: number;
  start: number;
  /** Kind of consumer that has it. */
  of?: "function" | "workers";
}

const FIELDS: Field[] = [
  { name: "visibility", label: "Visibility timeout", unit: "s", least: 0, most: 43200, start: 30 },
  { name: "receives", label: "Receives before the dead-letter queue (0: none)", unit: "", least: 0, most: 1000, start: 5 },
  { name: "timeout", label: "Function timeout", unit: "s", least: 1, most: 5400, start: 300, of: "function" },
  { name: "batch", label: "Batch size", unit: "", least: 1, most: 10000, start: 10, of: "function" },
  { name: "window", label: "Batching window", unit: "s", least: 0, most: 300, start: 0, of: "function" },
  { name: "workers", label: "Workers", unit: "", least: 1, most: 1000, start: 10, of: "workers" },
  { name: "every", label: "Heartbeat every (0: none)", unit: "s", least: 0, most: 43200, start: 20, of: "workers" },
  { name: "extend", label: "Heartbeat extends to", unit: "s", least: 1, most: 43200, start: 60, of: "workers" },
  { name: "p50", label: "Half of the messages take at most", unit: "s", least: 1, most: 43200, start: 12 },
  { name: "p99", label: "99 % take at most", unit: "s", least: 1, most: 43200, start: 25 },
  { name: "max", label: "The slowest takes", unit: "s", least: 1, most: 43200, start: 280 },
  { name: "rate", label: "Messages per week", unit: "", least: 1, most: 100000, start: 10000 },
];

const START = Object.fromEntries(FIELDS.map(({ name, start }) => [name, start])) as unknown as Settings;

/** Numbers of `sqslint simulate --format json` that the page shows. */
interface Simulation {
  timelines: { name: string; summary: string; events: TimelineEvent[] }[];
  configurations: Configuration[];
}

interface Configuration {
  name: string;
  twice: { mean: number };
  dead_lettered: { mean: number };
  lost: { mean: number };
  recovery: number | null;
  longest_wait: number;
  good: boolean;
  verdict: string;
}

export class Calculator {
  private settings: Settings = { ...START, consumer: "function" };
  private readonly slowest = make("section", { "aria-label": "The slowest message", id: "slowest" });
  private readonly weeks = make("section", { "aria-label": "Weeks of messages", id: "weeks" });
  private readonly text = make("section", { "aria-label": "Lines to copy", id: "lines" });
  private timer: ReturnType<typeof setTimeout> | undefined;
  private change = 0;

  constructor(
    private readonly place: HTMLElement,
    private readonly start: (args: string[]) => Promise<Run>,
  ) {}

  /** Shows the settings of an address, such as `&visibility=30&timeout=300`, or those of before. */
  open(address = ""): void {
    const given = new URLSearchParams(address);
    if (given.get("consumer") === "workers" || given.get("consumer") === "function") {
      this.settings.consumer = given.get("consumer") as Settings["consumer"];
    }
    for (const { name, least, most } of FIELDS) {
      const value = Number.parseInt(given.get(name) ?? "", 10);
      if (value >= least && value <= most) {
        Object.assign(this.settings, { [name]: value });
      }
    }
    this.draw();
  }

  /** Returns the address of the settings that the timeline of a finding shows. */
  settingsOf({ timeline }: Finding): string {
    const at = (event: string) => timeline?.events.find((one) => one.event === event && one.receive === 1)?.milliseconds;
    const [from, again, done] = [at("received") ?? 0, at("visible-again"), at("done")];
    const seconds = (end: number | undefined) => (end === undefined ? "" : `${Math.round((end - from) / 1000)}`);
    return `&visibility=${seconds(again)}&timeout=${seconds(done)}&max=${seconds(done)}`;
  }

  private draw(): void {
    const { consumer } = this.settings;
    const kinds = (["function", "workers"] as const).map((kind) => {
      const choose = () => {
        this.settings.consumer = kind;
        this.draw();
      };
      return button(kind === "function" ? "Lambda function" : "Workers with a heartbeat", choose, { "aria-pressed": kind === consumer });
    });
    const fields = FIELDS.filter(({ of }) => of === undefined || of === consumer).map((field) => this.field(field));
    const advised = () => {
      const { timeout, window, max } = this.settings;
      this.settings.visibility = Math.min(43200, consumer === "function" ? 6 * timeout + window : 6 * max);
      this.draw();
    };
    const six = consumer === "function" ? "Six times the function timeout" : "Six times the slowest";
    this.place.replaceChildren(
      make("form", { onsubmit: () => false }, make("div", { className: "tabs", role: "group", "aria-label": "Consumer" }, ...kinds), ...fields, button(six, advised)),
      this.slowest,
      this.weeks,
      this.text,
    );
    this.changed();
  }

  private field({ name, label, unit, least, most }: Field): HTMLElement {
    const positions = (unit === "s" ? TIMES : COUNTS).filter((value) => value >= least && value <= most);
    const value = this.settings[name] as number;
    const shown = (value: number) => (unit === "s" && value >= 60 ? `${value} s, or ${clock(value * 1000)}` : `${value} ${unit}`);
    const slider = make("input", { type: "range", min: "0", max: `${positions.length - 1}`, "aria-label": label, id: name });
    const number = make("input", { type: "number", min: `${least}`, max: `${most}`, "aria-label": `${label}, exactly`, value: `${value}` });
    const follow = (value: number) => {
      const above = positions.findIndex((position) => position >= value);
      slider.value = `${above < 0 ? positions.length - 1 : above}`;
      slider.setAttribute("aria-valuetext", shown(value));
    };
    follow(value);
    const set = (value: number) => {
      Object.assign(this.settings, { [name]: value });
      slider.setAttribute("aria-valuetext", shown(value));
      this.changed();
    };
    slider.oninput = () => {
      const value = positions[Number(slider.value)] ?? least;
      number.value = `${value}`;
      set(value);
    };
    number.oninput = () => {
      if (number.validity.valid && number.value !== "") {
        follow(number.valueAsNumber);
        set(number.valueAsNumber);
      }
    };
    return make("div", { className: "field" }, make("span", { "aria-hidden": "true" }, label), slider, number, make("span", { "aria-hidden": "true" }, unit));
  }

  /** Shows the timeline at once, and the weeks once the settings stay as they are. */
  private changed(): void {
    const { settings } = this;
    const own = ++this.change;
    clearTimeout(this.timer);
    const address = FIELDS.map(({ name }) => `&${name}=${settings[name]}`).join("");
    history.replaceState(null, "", `#calculator&consumer=${settings.consumer}${address}`);
    const texts = Object.entries(lines(settings)).map(([dialect, text]) => {
      const copied = button("Copy", () => copy(text, copied), { "aria-label": `Copy the lines for ${dialect}` });
      return make("div", {}, make("div", { className: "bar" }, make("h3", {}, dialect), copied), scrolled(dialect, text));
    });
    this.text.replaceChildren(make("h2", {}, "Lines to copy"), ...texts);
    this.weeks.replaceChildren(make("h2", {}, "A week of messages"), make("p", {}, "Simulating…"));
    void this.simulate(1, 1).then((result) => {
      if (own === this.change) {
        this.slowest.replaceChildren(make("h2", {}, "The slowest message"), ...drawn(result));
        this.timer = setTimeout(async () => {
          const result = await this.simulate(settings.rate, 3);
          if (own === this.change) {
            this.weeks.replaceChildren(make("h2", {}, "A week of messages, the mean of three"), ...table(result));
          }
        }, 250);
      }
    });
  }

  private async simulate(rate: number, weeks: number): Promise<Simulation | string> {
    const { visibility, receives, timeout, batch, window, workers, every, extend, p50, p99, max, consumer } = this.settings;
    const own =
      consumer === "function"
        ? ["--timeout", timeout, "--batch", batch, "--window", window]
        : ["--workers", workers, ...(every > 0 ? ["--heartbeat", `${every}s/${extend}s`] : [])];
    const times = ["--p50", p50, "--p99", p99, "--max", max, "--rate", `${rate}/week`, "--weeks", weeks];
    const args = ["simulate", "--visibility", visibility, "--max-receives", receives, ...own, ...times, "--format", "json"];
    try {
      const { out, err } = await this.start(args.map(String));
      return out === "" ? err.replace(/^sqslint: /, "") : (JSON.parse(out) as Simulation);
    } catch (error) {
      return String(error);
    }
  }
}

/** Draws the first timeline: a bar for each attempt, and a mark where the message is visible again. */
function drawn(result: Simulation | string): HTMLElement[] {
  const timeline = typeof result === "string" ? undefined : result.timelines[0];
  if (timeline === undefined) {
    return [make("p", { className: "error" }, typeof result === "string" ? result : "There is nothing to show.")];
  }
  const { events, summary } = timeline;
  const end = Math.max(1, ...events.map(({ milliseconds }) => milliseconds));
  const percent = (milliseconds: number) => `${(100 * milliseconds) / end}%`;
  const bars = [...new Set(events.map(({ receive }) => receive))].map((receive) => {
    const own = events.filter((event) => event.receive === receive);
    const again = own.find(({ event }) => event === "visible-again");
    const [from, to] = [own[0]?.milliseconds ?? 0, own.at(-1)?.milliseconds ?? 0];
    const bar = make("span", { className: "attempt" }, `attempt ${receive}`);
    Object.assign(bar.style, { marginLeft: percent(from), width: percent(to - from) });
    const mark = again && make("span", { className: "again", title: `visible again at ${clock(again.milliseconds)}` });
    mark?.style.setProperty("left", percent(again?.milliseconds ?? 0));
    return make("div", { className: "lane" }, bar, mark);
  });
  const steps = events.map(({ milliseconds, message }) => make("li", {}, `${clock(milliseconds)} ${message}`));
  const isHarm = events.some(({ event }) => event === "delete-ignored");
  return [
    make("div", { className: "lanes", "aria-hidden": "true" }, ...bars),
    make("p", { role: "status", className: isHarm ? "bad" : "good" }, summary),
    make("ol", {}, ...steps),
  ];
}

function table(result: Simulation | string): HTMLElement[] {
  if (typeof result === "string") {
    return [make("p", { className: "error" }, result)];
  }
  const heads = ["Configuration", "Twice", "Dead-lettered", "Lost", "After a crash", "Longest wait", "Verdict"];
  const rows = result.configurations.map(({ name, twice, dead_lettered, lost, recovery, longest_wait, good, verdict }) =>
    make(
      "tr",
      { className: good ? "good" : "bad" },
      make("th", { scope: "row" }, name),
      ...[twice, dead_lettered, lost].map(({ mean }) => make("td", {}, `${Math.round(mean * 10) / 10}`)),
      make("td", {}, recovery === null ? "–" : clock(recovery)),
      make("td", {}, clock(longest_wait)),
      make("td", {}, `${good ? "good" : "bad"}: ${verdict}`),
    ),
  );
  const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)));
  return [make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": "Results" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)))];
}

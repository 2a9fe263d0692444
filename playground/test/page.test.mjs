// The built page in a real browser: a Chromium that is installed, or the one that CHROMIUM names. SCREENSHOTS names a
// folder for pictures. Skipped without a browser.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = BROWSERS.find((path) => path && existsSync(path));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const needs = { skip: !executablePath && "there is no Chromium" };

let browser, server, address, temporary;
const requested = [];

before(async () => {
  if (!executablePath) return;
  temporary = mkdtempSync(join(tmpdir(), "sqslint-page-"));
  server = createServer(({ url }, response) => {
    const path = join("dist", url === "/" ? "index.html" : new URL(url, "http://page").pathname);
    requested.push(url);
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  server?.close();
  if (temporary) rmSync(temporary, { recursive: true });
});

/** Opens the page. A request to another place, or an error in a script, fails the test. */
async function opened(t, { hash = "", ready = true, isRefused = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && !(isRefused && /Content Security Policy|Refused/.test(message.text())) && wrong.push(message.text()));
  context.on("request", (request) => {
    if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) wrong.push(request.url());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  });
  await page.goto(address + hash);
  if (ready) await page.waitForFunction(() => /\d+ errors?|sqslint:/.test(document.getElementById("status").textContent));
  return page;
}

async function picture(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (folder) {
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  }
}

/** Fails if axe finds anything. */
async function accessible(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)]), []);
}

const checked = (page) => page.waitForFunction(() => /\d+ errors?/.test(document.getElementById("status").textContent));
const rules = (page) => page.locator("article .bar button:first-child").allTextContents();
const settled = async (page, action) => {
  await page.evaluate(() => (document.getElementById("status").textContent = ""));
  await action();
  await checked(page);
};

test("every example has findings, and every view is accessible", needs, async (t) => {
  const page = await opened(t);
  await picture(page, "start");
  await accessible(page);
  const names = await page.locator("#example option").allTextContents();
  assert.equal(names.length, 8);
  const expected = {
    "SAM: a handler in Python": "handler-swallows-failures",
    "Terraform: workers of a queue": "heartbeat",
  };
  for (const name of names) {
    await settled(page, () => page.selectOption("#example", name === names[0] ? names[1] : names[0]));
    await settled(page, () => page.selectOption("#example", name));
    const found = await rules(page);
    assert.ok(found.length > 0, name);
    const wanted = expected[name] ?? "visibility-timeout";
    assert.ok(found.some((rule) => rule.includes(wanted)) || name.includes("workers"), `${name}: ${found}`);
    assert.ok((await page.locator(".cm-lintRange, .cm-lint-marker, .cm-lintPoint").count()) > 0 || name.includes("handler") || name.includes("CDK") || name.includes("workers"), name);
    await picture(page, `example-${names.indexOf(name)}`);
  }
});

test("graph, explanation and the page of a rule", needs, async (t) => {
  const page = await opened(t);
  await page.click("[data-view=graph]");
  await page.waitForSelector("#graph img");
  assert.ok(await page.locator("#graph img").evaluate((image) => image.decode().then(() => image.naturalWidth > 300)));
  assert.match(await page.textContent("#graph"), /aws_sqs_queue\.orders/);
  await accessible(page);
  await picture(page, "graph");
  await page.click("text=queues.tf");
  await page.locator(".cm-lineNumbers .cm-gutterElement", { hasText: /^2$/ }).click();
  await page.waitForFunction(() => /judged by/.test(document.getElementById("explain").textContent));
  await accessible(page);
  await picture(page, "explain");
  await page.click("[data-view=findings]");
  await page.locator("article", { hasText: "may run for 280 s" }).locator(".bar button").first().click();
  await page.waitForSelector("dialog[open] strong");
  await accessible(page);
  await picture(page, "rule");
  await page.click("dialog >> text=Open the calculator");
  await page.waitForSelector("#slowest li");
});

test("a finding leads to its place", needs, async (t) => {
  const page = await opened(t);
  await page.locator("article .link", { hasText: "function.tf:7" }).first().click();
  assert.equal(await page.locator("#names [aria-pressed=true]").textContent(), "function.tf");
  assert.match(await page.evaluate(() => getSelection().toString()), /timeout/);
});

test("an edit is checked, a fix is accepted, and the address has both", needs, async (t) => {
  const page = await opened(t);
  const article = page.locator("article", { hasText: "may run for 280 s" }).first();
  await article.getByText("Show the fix").click();
  await page.waitForSelector("dialog[open] .added");
  assert.match(await page.locator("dialog .added").first().textContent(), /visibility_timeout_seconds = 1680|^\+ $/m);
  await accessible(page);
  await picture(page, "fix");
  await settled(page, () => page.click("dialog >> text=Accept"));
  assert.ok(!(await rules(page)).includes("visibility-timeout-below-function-timeout"));
  await page.waitForFunction(() => location.hash.startsWith("#state="));
  await page.click("#share");
  await page.waitForFunction(() => document.getElementById("share").textContent === "Copied");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.length < 2000, `${link.length}`);
  const other = await opened(t, { hash: new URL(link).hash });
  await other.click("text=queues.tf");
  assert.match(await other.textContent(".cm-content"), /visibility_timeout_seconds = 1680/);
  assert.deepEqual(await rules(other), await rules(page));
});

test("all fixes at once, and another project from the keyboard", needs, async (t) => {
  const page = await opened(t);
  const before = await rules(page);
  await page.focus("#fix-all");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open] .added");
  await settled(page, () => page.click("dialog >> text=Accept"));
  assert.ok((await rules(page)).length < before.length);
  await page.focus(".cm-content");
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("# a comment\n");
  await page.keyboard.press("Alt+Enter");
  await page.waitForFunction(() => /nothing|judged|:2/.test(document.getElementById("explain").textContent));
});

test("a folder, dropped files and archives", needs, async (t) => {
  const page = await opened(t);
  const files = { "infra/main.tf": 'resource "aws_sqs_queue" "a" {\n  visibility_timeout_seconds = 50000\n}\n', "infra/node_modules/x.tf": "broken {", "infra/photo.png": "x" };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(temporary, name)), { recursive: true });
    writeFileSync(join(temporary, name), text);
  }
  await settled(page, () => page.setInputFiles("#folder", join(temporary, "infra")));
  assert.deepEqual(await page.locator("#names button").allTextContents(), ["main.tf", "+", "−"]);
  assert.ok((await rules(page)).includes("queue-attribute-out-of-range"));
  // As a browser drops it: a list of items, whose entries are folders and files.
  await page.evaluate(() => (document.getElementById("status").textContent = ""));
  await page.evaluate((text) => {
    const file = (name, fullPath) => ({ isFile: true, name, fullPath, file: (call) => call(new File([text], name)) });
    const folder = (fullPath, entries) => ({ isDirectory: true, fullPath, createReader: () => ({ readEntries: (call) => call(entries.splice(0, 1)) }) });
    const deep = folder("/app/deep", [file("b.tf", "/app/deep/b.tf")]);
    const entry = folder("/app", [file("a.tf", "/app/a.tf"), deep, file("notes.txt", "/app/notes.txt")]);
    const event = new Event("drop", { cancelable: true });
    Object.defineProperty(event, "dataTransfer", { value: { items: [{ webkitGetAsEntry: () => entry }] } });
    dispatchEvent(event);
  }, files["infra/main.tf"]);
  await checked(page);
  assert.deepEqual((await page.locator("#names button").allTextContents()).slice(0, -2).sort(), ["a.tf", "deep/b.tf"]);
  const header = Buffer.alloc(512);
  header.write("project/main.tf", 0);
  header.write(files["infra/main.tf"].length.toString(8).padStart(11, "0"), 124);
  header.write("0", 156);
  const body = Buffer.alloc(512);
  body.write(files["infra/main.tf"]);
  const archive = join(temporary, "project.tar.gz");
  writeFileSync(archive, gzipSync(Buffer.concat([header, body, Buffer.alloc(1024)])));
  await settled(page, () => page.setInputFiles("#some-files", archive));
  assert.deepEqual(await page.locator("#names button").allTextContents(), ["main.tf", "+", "−"]);
  const { zipSync, strToU8 } = await import("fflate");
  const zip = join(temporary, "project.zip");
  writeFileSync(zip, zipSync({ "p/a.tf": strToU8(files["infra/main.tf"]), "p/b.bin": strToU8("x") }));
  await settled(page, () => page.setInputFiles("#some-files", zip));
  assert.deepEqual(await page.locator("#names button").allTextContents(), ["a.tf", "+", "−"]);
});

test("an archive that unpacks to too much, and a folder of nothing, are refused", needs, async (t) => {
  const page = await opened(t);
  const bomb = join(temporary, "bomb.tar.gz");
  writeFileSync(bomb, gzipSync(Buffer.alloc(100_000_000)));
  await page.setInputFiles("#some-files", bomb);
  await page.waitForFunction(() => /unpacks to more than/.test(document.getElementById("status").textContent));
  writeFileSync(join(temporary, "photo.png"), "x");
  await page.setInputFiles("#some-files", join(temporary, "photo.png"));
  await page.waitForFunction(() => /no files that sqslint reads/.test(document.getElementById("status").textContent));
});

test("a run that takes too long, too much memory or too deep a stack ends with a message, and the page lives on", needs, async (t) => {
  const page = await opened(t);
  const queue = (at) => `resource "aws_sqs_queue" "q${at}" {\n  visibility_timeout_seconds = ${at}\n  count = 400\n}\n`;
  const hostile = {
    "many.tf": Array.from({ length: 60_000 }, (_, at) => queue(at)).join(""),
    "deep.json": `{"Resources": ${'{"a":['.repeat(100_000)}`,
    "wide.yaml": `Resources:\n${"  Q: &a {Type: AWS::SQS::Queue}\n".repeat(200_000)}`,
  };
  for (const [name, text] of Object.entries(hostile)) {
    writeFileSync(join(temporary, name), text);
    const start = Date.now();
    await page.evaluate(() => (document.getElementById("status").textContent = ""));
    await page.setInputFiles("#some-files", join(temporary, name));
    await page.waitForFunction(() => /sqslint:|\d+ errors?/.test(document.getElementById("status").textContent), undefined, { timeout: 30_000 });
    t.diagnostic(`${name}: ${await page.textContent("#status")} (${Date.now() - start} ms)`);
    assert.ok(Date.now() - start < 20_000);
    await settled(page, () => page.selectOption("#example", { index: 1 }));
    await settled(page, () => page.selectOption("#example", { index: 0 }));
    assert.ok((await rules(page)).length > 0);
  }
});

test("an address that is damaged opens an example", needs, async (t) => {
  for (const hash of ["#state=AAAA", "#state=!!", "#state=", "#x"]) {
    const page = await opened(t, { hash, ready: false });
    await page.waitForSelector("#names button");
  }
});

test("the calculator follows the keyboard", needs, async (t) => {
  const page = await opened(t, { hash: "#calculator&visibility=30&timeout=300&p50=12&p99=25&max=280", ready: false });
  await page.waitForSelector("#weeks tbody tr");
  assert.match(await page.textContent("#slowest"), /processed twice/);
  assert.equal(await page.locator("#weeks tbody tr").count(), 6);
  await accessible(page);
  await picture(page, "calculator");
  await page.focus("#visibility");
  const start = Date.now();
  for (let step = 0; step < 13; step += 1) await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => !/processed twice/.test(document.getElementById("slowest").textContent));
  t.diagnostic(`the timeline followed 13 steps in ${Date.now() - start} ms`);
  assert.match(page.url(), /visibility=360/);
  assert.match(await page.textContent("#lines"), /visibility_timeout_seconds = 360/);
  assert.match(await page.getAttribute("#visibility", "aria-valuetext"), /360 s, or 6:00/);
  await page.getByText("Six times the function timeout").click();
  assert.match(page.url(), /visibility=1800/);
  await page.locator("#lines button").first().click();
  await page.waitForFunction(() => document.querySelector("#lines button").textContent === "Copied");
  await page.getByText("Workers with a heartbeat").click();
  await page.waitForFunction(() => /every/.test(document.getElementById("calculator").textContent) && document.querySelectorAll("#weeks tbody tr").length > 0);
  await accessible(page);
  await picture(page, "calculator-workers");
});

for (const [name, options] of Object.entries({
  narrow: { viewport: { width: 375, height: 740 }, isMobile: true, hasTouch: true },
  dark: { colorScheme: "dark" },
})) {
  test(`${name}: both tools are accessible and nothing is cut off`, needs, async (t) => {
    const page = await opened(t, options);
    const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.deepEqual((([content, window]) => content <= window)(await widths()), true, `${await widths()}`);
    await accessible(page);
    await picture(page, name);
    await page.click("[data-tool=calculator]");
    await page.waitForSelector("#weeks tbody tr");
    assert.deepEqual((([content, window]) => content <= window)(await widths()), true, `${await widths()}`);
    await accessible(page);
    await picture(page, `${name}-calculator`);
  });
}

test("the page works offline once it was loaded", needs, async (t) => {
  const page = await opened(t);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(async () => (await (await caches.open((await caches.keys())[0])).keys()).length > 3);
  await page.context().setOffline(true);
  await page.reload();
  await checked(page);
  await page.context().setOffline(false);
});

test("the page can send nothing", needs, async (t) => {
  const page = await opened(t, { isRefused: true });
  const refused = await page.evaluate(async (address) => {
    const tries = [() => fetch(address), () => fetch("https://example.org"), () => new WebSocket("wss://example.org"), () => navigator.sendBeacon("/", "x")];
    const results = [];
    addEventListener("securitypolicyviolation", ({ violatedDirective }) => results.push(violatedDirective));
    for (const one of tries) await Promise.resolve().then(one).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
    return results;
  }, address);
  assert.deepEqual(refused, ["connect-src", "connect-src", "connect-src", "connect-src"]);
});

test("time to the first report", needs, async (t) => {
  requested.length = 0;
  const start = Date.now();
  const page = await opened(t);
  t.diagnostic(`first report after ${Date.now() - start} ms; ${requested.length} requests`);
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`project/m${at}/main.tf`, `resource "aws_sqs_queue" "q" {\n  name = "q${at}"\n}\n\nresource "aws_lambda_function" "f" {\n  timeout = 300\n}\n\nresource "aws_lambda_event_source_mapping" "m" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.f.arn\n}\n`]));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(temporary, name)), { recursive: true });
    writeFileSync(join(temporary, name), text);
  }
  const second = Date.now();
  await settled(page, () => page.setInputFiles("#folder", join(temporary, "project")));
  t.diagnostic(`50 files: ${Date.now() - second} ms: ${await page.textContent("#status")}`);
  assert.match(await page.textContent("#status"), /50 errors/);
});

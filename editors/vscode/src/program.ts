// Which program serves: the one that is set, the one that comes with the extension, or the one on the PATH.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** The program of `sqslint.path`, else the one bundled in `extension`, else that on the PATH. */
export function program(set: string, extension: string, platform: string = process.platform): string {
  if (set.trim() !== "") {
    return set.trim();
  }
  const bundled = join(extension, "bin", platform === "win32" ? "sqslint.exe" : "sqslint");
  return existsSync(bundled) ? bundled : "sqslint";
}

/** The initialization options of the server, of which the empty ones are left out. */
export function options(get: (name: string) => unknown): Record<string, unknown> {
  const names = ["configuration", "select", "ignore", "environment", "inlayHints"];
  const set = names.map((name) => [name, get(name)] as const);
  const isSet = ([, value]: readonly [string, unknown]) =>
    value !== undefined && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0);
  return { ...Object.fromEntries(set.filter(isSet)), rulePages: "sqslint-rule:/" };
}

/** A page for a webview that shows a drawing and runs nothing. */
export function page(title: string, drawing: string): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  const text = title.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${text}</title>
<style>body { background: white; padding: 1em; } svg { max-width: 100%; height: auto; }</style>
</head>
<body>${drawing}</body>
</html>`;
}

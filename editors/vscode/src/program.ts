// Which program serves: the one that is set, the one that comes with the extension, or the one on the PATH. It is always
// an absolute path, because a bare name may refer to a file in the opened folder: Windows looks there first.

import { realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, sep } from "node:path";

/**
 * Returns the absolute path of the program: `set` (the setting `sqslint.path`), else the one bundled in `extension`, else
 * that on the PATH `search`. Programs in the opened `folders` count only if the setting has their absolute path.
 */
export function program(
  set: string,
  extension: string,
  folders: readonly string[] = [],
  search: string = process.env.PATH ?? "",
  platform: string = process.platform,
): string | undefined {
  const chosen = set.trim();
  if (isAbsolute(chosen)) {
    return chosen;
  }
  const name = platform === "win32" ? "sqslint.exe" : "sqslint";
  const bundled = join(extension, "bin", name);
  if (chosen === "" && isFile(bundled)) {
    return bundled;
  }
  // A relative path would depend on the folder from which the program is started.
  if (chosen !== "" && (chosen === "." || chosen === ".." || /[\\/]/.test(chosen))) {
    return undefined;
  }
  const named = chosen === "" ? name : chosen;
  const places = search.split(delimiter).filter(isAbsolute);
  const found = places.map((place) => join(place, named)).filter(isFile);
  return found.find((file) => !folders.some((folder) => isBelow(folder, file)));
}

/** Returns the launcher of the program as WebAssembly that comes with the extension. */
export function launcher(extension: string): string | undefined {
  const script = join(extension, "dist", "wasm", "cli.js");
  return isFile(script) ? script : undefined;
}

/** Returns the options as arguments of `sqslint check`. A relative configuration is in `folder`. */
export function flags(get: (name: string) => unknown, folder?: string): string[] {
  const { configuration, ...lists } = options(get, folder);
  const named = (["select", "ignore", "environment"] as const).flatMap((name) =>
    Array.isArray(lists[name]) ? [`--${name}`, lists[name].join(",")] : [],
  );
  return typeof configuration === "string" ? ["--config", configuration, ...named] : named;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Returns `true` if the path, or the file to which its links lead, is in `folder`. */
function isBelow(folder: string, path: string): boolean {
  const isWithin = (from: string, to: string) => {
    const rest = relative(from, to);
    return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
  };
  return isWithin(folder, path) || isWithin(real(folder), real(path));
}

/** Returns the path without links, if it exists. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Returns the initialization options of the server without empty ones. A relative configuration is in `folder`. */
export function options(get: (name: string) => unknown, folder?: string): Record<string, unknown> {
  const names = ["configuration", "select", "ignore", "environment", "inlayHints"];
  const absolute = (name: string, value: unknown) =>
    name === "configuration" && typeof value === "string" && value !== "" && folder !== undefined && !isAbsolute(value)
      ? join(folder, value)
      : value;
  const set = names.map((name) => [name, absolute(name, get(name))] as const);
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

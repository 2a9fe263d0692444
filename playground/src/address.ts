// Keeps the state of the page in its address, after `#`, which browsers do not send.

import { pack, unpack } from "./packed.js";

/** What an address contains: the files, and the options of the run. */
export interface State {
  files: Record<string, string>;
  open: string;
  pedantic: boolean;
}

/** Longest address that browsers and issue trackers accept. */
const LONGEST = 500_000;
/** Most bytes of text that an address may unpack to. */
const MOST = 20_000_000;

/** Returns the address of a state, or `undefined` if it would be too long. */
export async function encode(state: State): Promise<string | undefined> {
  const packed = await pack(new TextEncoder().encode(JSON.stringify(state)));
  const signs = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  const text = btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text.length > LONGEST ? undefined : `#state=${text}`;
}

/** Returns the state of an address, which anyone may have written, or `undefined` if it contains none. */
export async function decode(hash: string): Promise<State | undefined> {
  const text = /^#state=([\w-]+)$/.exec(hash)?.[1];
  if (text === undefined) {
    return undefined;
  }
  const signs = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(signs, (sign) => sign.charCodeAt(0));
  const bytes = await unpack(packed, "deflate-raw", MOST);
  const state = JSON.parse(new TextDecoder().decode(bytes)) as Partial<State>;
  const files = Object.entries(state.files ?? {}).filter(([, content]) => typeof content === "string");
  const [first] = files;
  if (first === undefined) {
    throw new Error("it contains no files");
  }
  const open = files.find(([name]) => name === state.open) ?? first;
  return { files: Object.fromEntries(files), open: open[0], pedantic: state.pedantic === true };
}

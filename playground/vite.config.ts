// Builds the page: dist/, files that any server can deliver.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const PROGRAM = "virtual:program";

/** The program as a module of the page, so that the page needs no right to send requests, not even for this file. */
function program(): Plugin {
  return {
    name: "program",
    resolveId: (id) => (id === PROGRAM ? id : undefined),
    load(id) {
      if (id !== PROGRAM) {
        return undefined;
      }
      const bytes = readFileSync("../target/wasm/sqslint.wasm");
      const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
      const packed = brotliCompressSync(bytes, { params }).toString("base64");
      return `export default ${JSON.stringify({ packed, length: bytes.length })};`;
    },
  };
}

/** A service worker that keeps the files of the page, so that it opens without a network. */
function offline(): Plugin {
  return {
    name: "offline",
    generateBundle(_, bundle) {
      const files = ["./", ...Object.keys(bundle)];
      const version = createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16);
      const source = `const [NAME, FILES] = ["sqslint-${version}", ${JSON.stringify(files)}];
addEventListener("install", (event) => event.waitUntil(caches.open(NAME).then((kept) => kept.addAll(FILES))));
addEventListener("activate", (event) =>
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("sqslint-") && name !== NAME).map((name) => caches.delete(name))))),
);
addEventListener("fetch", (event) =>
  event.respondWith(caches.match(event.request, { ignoreSearch: true }).then((kept) => kept ?? fetch(event.request))),
);
`;
      this.emitFile({ type: "asset", fileName: "offline.js", source });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [program(), offline()],
  worker: { format: "es" },
  build: { target: "es2022", modulePreload: { polyfill: false }, chunkSizeWarningLimit: 8000 },
});

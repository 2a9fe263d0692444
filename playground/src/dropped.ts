// Reads dropped folders, chosen files, and archives. Other files than those that the program reads are left out.

import { unzipSync } from "fflate";
import { unpack } from "./packed.js";

const READ = /(\.(tf|tofu|tfvars|hcl|ya?ml|json|toml|template|py|[cm]?[jt]sx?|java|kt|scala|cs|go|rs)|(^|\/)cdk\.out)$/;
const SKIPPED = /(^|\/)(node_modules|\.git|\.venv|__MACOSX)\//;
const MOST_FILES = 2_000;
const MOST_BYTES = 20_000_000;

/** Files that are collected until there are too many. */
class Collection {
  readonly files: Record<string, string> = {};
  private bytes = 0;

  wants(path: string, size: number): boolean {
    if (!READ.test(path) || SKIPPED.test(path)) {
      return false;
    }
    this.bytes += size;
    if (this.bytes > MOST_BYTES || Object.keys(this.files).length >= MOST_FILES) {
      throw new Error(`more than ${MOST_FILES} files or ${MOST_BYTES / 1e6} MB; choose a smaller folder`);
    }
    return true;
  }

  add(path: string, bytes: Uint8Array): void {
    this.files[path] = new TextDecoder().decode(bytes);
  }

  async addFile(path: string, file: File): Promise<void> {
    const { name, size } = file;
    if (/\.zip$/i.test(name)) {
      this.checkSize(size);
      const wanted = (entry: { name: string; originalSize: number }) => this.wants(entry.name, entry.originalSize);
      const entries = unzipSync(await bytesOf(file), { filter: wanted });
      Object.entries(entries).forEach(([path, bytes]) => this.add(path, bytes));
    } else if (/\.(tar|tgz|tar\.gz)$/i.test(name)) {
      this.checkSize(size);
      const packed = await bytesOf(file);
      this.addTar(name.endsWith(".tar") ? packed : await unpack(packed, "gzip", 4 * MOST_BYTES));
    } else if (this.wants(path, size)) {
      this.add(path, await bytesOf(file));
    }
  }

  private checkSize(size: number): void {
    if (size > MOST_BYTES) {
      throw new Error(`an archive may have at most ${MOST_BYTES / 1e6} MB`);
    }
  }

  /** A header of 512 bytes per file: the name at 0, its size in octal at 124, its type at 156, a prefix at 345. */
  private addTar(bytes: Uint8Array): void {
    const text = (at: number, length: number) =>
      new TextDecoder().decode(bytes.subarray(at, at + length)).replace(/\0[^]*/, "");
    for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
      const size = Number.parseInt(text(at + 124, 12), 8) || 0;
      const prefix = text(at + 345, 155);
      const path = (prefix === "" ? "" : `${prefix}/`) + text(at, 100);
      if (/^0?$/.test(text(at + 156, 1)) && this.wants(path, size)) {
        this.add(path, bytes.subarray(at + 512, at + 512 + size));
      }
      at += 512 + 512 * Math.ceil(size / 512);
    }
  }
}

async function bytesOf(file: File): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.arrayBuffer());
}

/** Reads files that were chosen, or a folder with its paths. */
export async function chosen(list: Iterable<File>): Promise<Record<string, string>> {
  const found = new Collection();
  for (const file of list) {
    await found.addFile(file.webkitRelativePath || file.name, file);
  }
  return withoutTop(found.files);
}

/** Reads what was dropped: files, archives, and folders with everything in them. */
export async function dropped(items: DataTransferItemList): Promise<Record<string, string>> {
  const found = new Collection();
  // The list is empty once this function waits for the first time.
  let entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
    const path = entry.fullPath.slice(1);
    if (entry.isDirectory && !SKIPPED.test(`${path}/`)) {
      const reader = (entry as FileSystemDirectoryEntry).createReader();
      // Each call returns some of the entries, the last one none.
      for (let more = await listed(reader); more.length > 0; more = await listed(reader)) {
        entries = entries.concat(more);
      }
    } else if (entry.isFile) {
      const own = entry as FileSystemFileEntry;
      await found.addFile(path, await new Promise<File>((resolve, reject) => own.file(resolve, reject)));
    }
  }
  return withoutTop(found.files);
}

function listed(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

/** Removes the one folder that contains everything: it is the project. */
function withoutTop(files: Record<string, string>): Record<string, string> {
  const paths = Object.keys(files);
  const top = paths[0]?.match(/^[^/]+\//)?.[0];
  if (paths.length === 0) {
    throw new Error("there are no files that sqslint reads");
  }
  if (top === undefined || !paths.every((path) => path.startsWith(top))) {
    return files;
  }
  return withoutTop(Object.fromEntries(paths.map((path) => [path.slice(top.length), files[path] ?? ""])));
}

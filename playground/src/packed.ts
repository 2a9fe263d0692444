// Compresses bytes, and unpacks those of strangers up to a limit.

/** Returns what a stream contains. Rejects if that is more than `most` bytes. */
async function collected(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) {
      const bytes = new Uint8Array(length);
      pieces.reduceRight((end, piece) => (bytes.set(piece, end - piece.length), end - piece.length), length);
      return bytes;
    }
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`it unpacks to more than ${most / 1e6} MB`);
    }
    pieces.push(value);
  }
}

export function pack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return collected(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
}

export function unpack(bytes: Uint8Array<ArrayBuffer>, format: CompressionFormat, most: number): Promise<Uint8Array> {
  return collected(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format)), most);
}

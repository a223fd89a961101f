import { open } from "node:fs/promises";

const LOOKED_AT_BYTES = 64 * 1024;

/**
 * Returns whether a file is the beginning of a WAVE recording without samples. The file has a complete `fmt ` chunk
 * with at least one channel, but no sample data. Recorders that lose power leave these files, and ffmpeg refuses them
 * because it finds no audio.
 *
 * Layout: RIFF, "Multimedia Programming Interface and Data Specifications 1.0"; RF64, EBU Tech 3306.
 */
export async function isWaveWithoutSamples(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LOOKED_AT_BYTES), 0, LOOKED_AT_BYTES, 0);
    return headerHasNoSamples(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function headerHasNoSamples(head: Buffer): boolean {
  const form = head.toString("latin1", 0, 4);
  if ((form !== "RIFF" && form !== "RF64") || head.toString("latin1", 8, 12) !== "WAVE") return false;
  let formatSeen = false;
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString("latin1", at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const body = at + 8;
    if (id === "fmt ") {
      if (size < 16 || body + 16 > head.length) return false;
      formatSeen = head.readUInt16LE(body + 2) > 0 && head.readUInt32LE(body + 4) > 0;
    }
    if (id === "data") return formatSeen && body >= head.length;
    at = body + size + (size % 2);
  }
  // The file ended, or its last chunk extends past the end of the file, before any sample data. Longer files are not
  // examined further.
  return formatSeen && head.length < LOOKED_AT_BYTES;
}

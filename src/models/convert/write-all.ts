import type { FileHandle } from "node:fs/promises";

/** Writes all of the bytes: `FileHandle.write` may write less than it was given. */
export async function writeAll(output: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await output.write(bytes, done)).bytesWritten;
}

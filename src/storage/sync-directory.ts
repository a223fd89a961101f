import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

/** Makes the names in a directory durable: a file that was synced and renamed is there under its new name after a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}

/** The same at once, where nothing else may happen in between. */
export function syncDirectoryNow(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

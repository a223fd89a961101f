import { open } from "node:fs/promises";

/** Makes the names in a directory durable: a file that was synced and renamed is there under its new name after a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}

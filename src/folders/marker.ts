import { codeOf } from "../text/index.ts";
import type { OpenDirectory } from "./open-directory.ts";

/** File that marks a folder as watched. An unmounted or exchanged folder lacks it. Its name is that of a hidden file. */
export const MARKER = ".transcribe-folder";
const MAX_MARKER_BYTES = 100;

/** Returns the text of a folder's marker; null if there is none, or something else has its name. */
export async function readMarker(directory: OpenDirectory): Promise<string | null> {
  try {
    const { handle, facts } = await directory.openFile(MARKER);
    await using file = handle;
    if (facts.kind !== "file" && facts.kind !== "linked") return null;
    const text = (await file.read(0, MAX_MARKER_BYTES)).toString("utf8").trim();
    // An empty one was created, but not written before a crash.
    return text === "" ? null : text;
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENXIO"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** Writes the marker of a folder, which everybody who may read the folder may read. */
export async function writeMarker(directory: OpenDirectory, text: string): Promise<void> {
  await directory.remove(MARKER);
  await using file = await directory.createFile(MARKER);
  await file.write(Buffer.from(`${text}\n`));
  // Whoever may write to the folder can put a link under this name, so the path is not used again. Some file systems have
  // no permissions.
  await file.chmod(0o644).catch(() => {});
  await file.sync();
}

/** Removes the marker of a folder if it has a text. */
export async function removeMarker(directory: OpenDirectory, text: string): Promise<void> {
  if ((await readMarker(directory)) === text) await directory.remove(MARKER);
}

import { codeOf } from "../text/index.ts";
import type { FolderFile } from "./folder-files.ts";
import { HindranceError, workingIn } from "./hindrances.ts";
import { type FileFacts, isSameFile, type OpenDirectory } from "./open-directory.ts";
import { freeName } from "./write-once.ts";

/** A file that was taken, and the folder that it is in. */
interface TakenFile {
  readonly file: FolderFile;
  readonly directory: OpenDirectory;
}

/**
 * Returns the file of a row: under its name, or under the name that somebody gave it since. Null if it is gone, or if
 * another file has its name.
 */
export async function locate({ directory, file }: TakenFile): Promise<FileFacts | null> {
  const isFile = async (facts: FileFacts) => {
    if (isSameFile(facts, file)) return true;
    // Copying programs set the time of a file at their end.
    const mayBeSame = facts.kind === "file" && facts.sizeBytes === file.sizeBytes && file.sha256 !== null;
    return mayBeSame && (await directory.digest(facts.name)) === file.sha256;
  };
  return await workingIn("folder", async () => {
    const facts = await directory.describe(file.name);
    if (facts !== null && (await isFile(facts))) return facts;
    const { entries } = await directory.entries();
    const names = entries.flatMap(({ name, isDirectory }) => (isDirectory || name === file.name ? [] : [name]));
    const others = await directory.describeAll(names);
    for (const other of others.values()) if (other.inode === file.inode && (await isFile(other))) return other;
    return null;
  });
}

/** Moves the file of a row to a subfolder, under a free name. Does nothing if the file is gone. */
export async function moveTo(subfolder: "done" | "failed", taken: TakenFile): Promise<void> {
  const { directory } = taken;
  const source = await locate(taken);
  if (source === null) return;
  await using other = await workingIn("subfolder", () => directory.subdirectory(subfolder));
  await workingIn("subfolder", async () => {
    const name = await freeName(other, source.name);
    const isMoved = await directory.move(source.name, other, name).catch((error: unknown) => {
      // Somebody renamed or removed it in this moment; the next visit finds it.
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    });
    if (!isMoved) throw new HindranceError("locked");
    const moved = await other.describe(name);
    if (moved !== null && !isSameFile(moved, source)) {
      // Somebody replaced the file in this moment. The new one is to be transcribed, too.
      // Its own name may be taken in the same moment.
      while (!(await other.move(name, directory, await freeName(directory, source.name))));
    }
    await other.sync();
    await directory.sync();
  });
}

import type { FileStatus, Owner } from "./file-calls.ts";
import { numberedNames } from "./file-names.ts";
import type { OpenDirectory } from "./open-directory.ts";
import type { OpenFile } from "./open-file.ts";

/** Returns a name that is free in a directory: the given one, or one with a number. */
export async function freeName(directory: OpenDirectory, name: string): Promise<string> {
  for (const numbered of numberedNames(name)) if ((await directory.describe(numbered)) === null) return numbered;
  throw new RangeError("there is always a further number");
}

export interface NewFile {
  /** Name that it gets if it is free; else a number is added. */
  readonly name: string;
  /** End of the name, before which a number is added; by default the extension. */
  readonly ending?: string;
  readonly content: Uint8Array;
  /** Owner and permissions of the source. The file gets at most these, and at most those of its directory. */
  readonly owner: Owner;
  readonly temporaryName: string;
}

/**
 * Writes files that appear complete and synced, each with the same number, so that they are recognized as belonging
 * together. Replaces none, and writes none whose content is there already.
 */
export async function writeOnce(directory: OpenDirectory, files: readonly NewFile[]): Promise<void> {
  // After a crash, the name of a result may be a second name of its temporary file, or that of an empty file.
  const interrupted = new Set((await directory.describeAll(files.map(({ temporaryName }) => temporaryName))).keys());
  for (const name of interrupted) await directory.remove(name);
  const { mode } = await directory.owner();
  const names = files.map(({ name, ending }) => numberedNames(name, ending));
  for (;;) {
    const numbered = files.map((file, index) => ({ file, name: names[index]?.next().value ?? file.name }));
    const missing: typeof numbered = [];
    let isFree = true;
    for (const { file, name } of numbered) {
      const facts = await directory.describe(name);
      if (facts !== null && (await hasContent(directory, name, facts, file.content))) continue;
      const isOwn = facts?.kind === "file" && facts.sizeBytes === 0 && interrupted.has(file.temporaryName);
      if (isOwn) await directory.remove(name);
      if (isOwn || facts === null) missing.push({ file, name });
      else isFree = false;
    }
    if (isFree && (await writeAll(directory, missing, mode))) return;
  }
}

/** Writes files under free names. @returns false if another program takes one of the names in this moment */
async function writeAll(
  directory: OpenDirectory,
  files: readonly { readonly file: NewFile; readonly name: string }[],
  directoryMode: number,
): Promise<boolean> {
  for (const { file, name } of files) {
    const { content, owner, temporaryName } = file;
    try {
      {
        await using created = await directory.createFile(temporaryName);
        await created.write(content);
        await giveTo(created, owner, directoryMode);
        await created.sync();
      }
      if (!(await directory.publish(temporaryName, name))) return false;
    } finally {
      await directory.remove(temporaryName).catch(() => {});
    }
  }
  return true;
}

/** @param facts what the directory tells about the name */
async function hasContent(
  directory: OpenDirectory,
  name: string,
  facts: FileStatus,
  content: Uint8Array,
): Promise<boolean> {
  if (facts.kind !== "file" || facts.sizeBytes !== content.byteLength) return false;
  const { handle } = await directory.openFile(name);
  await using file = handle;
  return Buffer.from(content).equals(await file.read(0, content.byteLength));
}

/**
 * Gives a new file to the owner and the group of its source, as far as this process may, with at most the source's
 * permissions, masked with those of its directory. A group that is not the source's gets the rights that the source
 * gives to everybody: its members are no more than that to the source.
 */
async function giveTo(file: OpenFile, owner: Owner, directoryMode: number): Promise<void> {
  await file.giveTo(owner);
  const { groupId } = (await file.describe()).owner;
  const ofOthers = owner.mode & 0o006;
  const mode = groupId === owner.groupId ? owner.mode : (owner.mode & 0o600) | (ofOthers << 3) | ofOthers;
  // File systems without permissions refuse this; the mount then decides.
  await file.chmod((mode & directoryMode & 0o666) | 0o600).catch(() => {});
}

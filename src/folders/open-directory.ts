import { randomUUID } from "node:crypto";
import { codeOf } from "../text/index.ts";
import type { Entries, FileStatus, FileSystem, Owner } from "./file-calls.ts";
import { IGNORED_NAMES } from "./file-names.ts";
import { OpenFile } from "./open-file.ts";

/** Number of entries that one call describes. A slow network file system needs seconds for them, and must not seem silent. */
const DESCRIBED_AT_ONCE = 200;

/** A file of a directory. */
export interface FileFacts extends FileStatus {
  readonly name: string;
}

/** The properties by which a file counts as unchanged. Some network file systems have no stable inodes. */
type FileIdentity = Pick<FileFacts, "sizeBytes" | "modified">;

export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.sizeBytes === other.sizeBytes && one.modified === other.modified;
}

/** The directory that is open is not at its path any more: a part of the path was replaced by a link. */
export class MovedError extends Error {
  override readonly name = "MovedError";
}

/**
 * An open directory. Everything in it is accessed through its descriptor, and no link in it is followed. So whoever may
 * write to the directory, or to one above it, can't lead the server elsewhere.
 */
export class OpenDirectory implements AsyncDisposable {
  readonly #files: FileSystem;
  readonly #descriptor: number;

  private constructor(files: FileSystem, descriptor: number) {
    this.#files = files;
    this.#descriptor = descriptor;
  }

  /**
   * Opens a directory.
   * @param path absolute path without links
   * @param files runs all calls on the directory and on the files in it
   * @throws {MovedError} when the path leads through a link
   * @throws errors of the file system
   */
  static async open(path: string, files: FileSystem): Promise<OpenDirectory> {
    const descriptor = await files.call("openDirectory", path).catch(async (error: unknown) => {
      if (codeOf(error) === "ENOTDIR" && (await files.call("describe", path)).kind === "link")
        throw new MovedError("the path is a link");
      throw error;
    });
    const directory = new OpenDirectory(files, descriptor);
    try {
      if ((await files.call("readLink", directory.#path("."))) !== path)
        throw new MovedError("the path leads through a link");
      return directory;
    } catch (error) {
      await directory[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Opens a directory in this one, and creates it if it is missing, with the permissions and the group of this one.
   * @throws errors of the file system, `ENOTDIR` or `ELOOP` for a link
   */
  async subdirectory(name: string): Promise<OpenDirectory> {
    const files = this.#files;
    const path = this.#path(name);
    try {
      return new OpenDirectory(files, await files.call("openDirectory", path));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
    await files.call("makeDirectory", path);
    const descriptor = await files.call("openDirectory", path);
    const directory = new OpenDirectory(files, descriptor);
    // Whoever may write to this directory can put somebody's directory in the place of the new one.
    if ((await files.call("describeOpen", descriptor)).owner.userId !== process.geteuid?.()) return directory;
    const { owner } = await files.call("describeOpen", this.#descriptor);
    await new OpenFile(files, descriptor).giveTo(owner);
    // A service may not set the bit that passes a group on; the files get their groups one by one. The sticky bit keeps
    // users from moving files of others.
    await files.call("chmod", descriptor, owner.mode & 0o1777).catch(ignore);
    return directory;
  }

  /** Returns the names of the entries that are not ignored, at most 100,000, and which of them are directories. */
  entries(): Promise<Entries> {
    return this.#files.call("entries", this.#path("."), IGNORED_NAMES);
  }

  /** Returns the owner and the permissions of this directory, the latter as for a file. */
  async owner(): Promise<Owner> {
    const { owner } = await this.#files.call("describeOpen", this.#descriptor);
    return { ...owner, mode: owner.mode & 0o666 };
  }

  /** Returns whether only the owner of a file may move or remove it, or the owner of this directory. */
  async isSticky(): Promise<boolean> {
    return ((await this.#files.call("describeOpen", this.#descriptor)).owner.mode & 0o1000) !== 0;
  }

  /** Describes an entry without following a link; null if there is none. */
  async describe(name: string): Promise<FileFacts | null> {
    try {
      return { name, ...(await this.#files.call("describe", this.#path(name))) };
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** Describes entries, like `describe`. Those that are gone are left out. */
  async describeAll(names: readonly string[], onProgress = () => {}): Promise<Map<string, FileFacts>> {
    const found = new Map<string, FileFacts>();
    for (const some of inParts(names)) {
      const all = await this.#files.call("describeAll", this.#path("."), some);
      for (const [index, name] of some.entries()) {
        const status = all[index] ?? null;
        if (status !== null) found.set(name, { name, ...status });
      }
      onProgress();
    }
    return found;
  }

  /** Returns the names whose entries are no files that seem to be recordings by their beginnings. */
  async withoutRecordings(names: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const some of inParts(names)) {
      const areRecordings = await this.#files.call("areRecordings", this.#path("."), some);
      found.push(...some.filter((_, index) => areRecordings[index] !== true));
    }
    return found;
  }

  /** Opens a file for reading, never a link, and without waiting for the writer of a pipe. */
  async openFile(name: string): Promise<{ readonly handle: OpenFile; readonly facts: FileFacts }> {
    const handle = new OpenFile(this.#files, await this.#files.call("openFile", this.#path(name)));
    try {
      return { handle, facts: { name, ...(await handle.describe()) } };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Returns the SHA-256 of a file, hex. */
  async digest(name: string): Promise<string> {
    await using file = (await this.openFile(name)).handle;
    return await file.digest();
  }

  /** Creates a file that only this user may access. @throws `EEXIST` when the name is taken, also by a link */
  async createFile(name: string): Promise<OpenFile> {
    return new OpenFile(this.#files, await this.#files.call("createFile", this.#path(name)));
  }

  /**
   * Gives a file another name in this directory. Replaces none.
   * @param linkFile makes a hard link, which many network file systems do not have
   * @returns false if the name is taken
   */
  async publish(
    from: string,
    to: string,
    linkFile = (existing: string, path: string) => this.#files.call("link", existing, path),
  ): Promise<boolean> {
    try {
      await linkFile(this.#path(from), this.#path(to));
      await this.remove(from);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
    }
    // Without links, an empty file takes the name, because a rename would replace the file of another program or folder. A
    // crash in this moment leaves both files.
    try {
      await (await this.createFile(to)).close();
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
    try {
      await this.#files.call("rename", this.#path(from), this.#path(to));
      return true;
    } catch (error) {
      await this.remove(to).catch(ignore);
      throw error;
    }
  }

  /** Moves a file to a free name in another directory. @returns false if the name is taken */
  async move(from: string, other: OpenDirectory, to: string): Promise<boolean> {
    if ((await other.describe(to)) !== null) return false;
    await this.#files.call("rename", this.#path(from), other.#path(to));
    return true;
  }

  async remove(name: string): Promise<void> {
    await this.#files.call("remove", this.#path(name));
  }

  /** Makes the names in this directory durable, where the file system can do that. */
  async sync(): Promise<void> {
    await this.#files.call("sync", this.#descriptor).catch((error: unknown) => {
      if (!["EINVAL", "EBADF", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(error))) throw error;
    });
  }

  /** Creates a file and removes it. @throws the file system's error when that is not possible */
  async testWriting(): Promise<void> {
    const name = `.transcribe-${randomUUID()}.part`;
    await (await this.createFile(name)).close();
    await this.remove(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new OpenFile(this.#files, this.#descriptor).close();
  }

  #path(name: string): string {
    return name === "." ? `/proc/self/fd/${this.#descriptor}` : `/proc/self/fd/${this.#descriptor}/${name}`;
  }
}

function* inParts(names: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < names.length; from += DESCRIBED_AT_ONCE) yield names.slice(from, from + DESCRIBED_AT_ONCE);
}

/** Some file systems have neither owners nor permissions; the files are then as accessible as the mount makes them. */
function ignore(): void {}

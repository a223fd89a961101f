import { constants } from "node:fs";
import { link, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { syncDirectory } from "../files/index.ts";
import { codeOf, messageOf } from "../text/index.ts";
import { FenceError, type LeaseRecord, type LeaseRegister, parseLeaseRecord, type Registered } from "./lease-record.ts";

/** Names of leases: a number that grows with each write. */
const LEASE = /^lease-(\d{1,15})\.json$/;
const OWN_FILE = /^write-[0-9a-f-]{36}$/;
/** Earlier leases that stay. They are of no use but for people. */
const KEPT = 4;
/** Age from which the file of a write that a crash interrupted is removed. */
const LEFT_MILLISECONDS = 3_600_000;
const MAX_BYTES = 65_536;
const HINTS: readonly (readonly [codes: RegExp, hint: string])[] = [
  [/^ENOENT$/, "create the folder on the shared storage, and see that the storage is mounted"],
  [/^EROFS$/, "it is read-only; mend the storage, or mount it for writing"],
  [/^(ENOSPC|EDQUOT)$/, "free some space on the storage"],
  [/^(ESTALE|ENOTCONN|EHOSTDOWN|EIO)$/, "see that the storage works, and mount it again"],
  [/^(ENOSYS|EOPNOTSUPP|ENOTSUP|EPERM|EMLINK)$/, "its file system must support hard links, as NFS does"],
];

/**
 * A folder on storage that several machines reach, such as NFS. Each write is a new file with the next number, and the
 * greatest number counts. No lock is taken, because the lock of a machine that is lost would stay.
 *
 * A write links its own file to the new name, which succeeds for one machine only, and is repeatable on NFS: link(2) may
 * report an error although it succeeded, and the number of links tells. Each read creates its own file before it lists
 * the folder: an NFS client that changes a folder does not use an older listing of it.
 */
export class FolderRegister implements LeaseRegister {
  readonly forgets = false;
  readonly #path: string;
  #id: string | null;

  /** @param id of the folder that was used before; null if none was */
  constructor(path: string, id: string | null) {
    this.#path = path;
    this.#id = id;
  }

  /** Returns the folder's id, and gives it one if none was used before. @throws {FenceError} */
  async identify(): Promise<string> {
    const found = (await this.#readFile(this.#idPath))?.trim() ?? null;
    if (found !== null && (this.#id ?? found) === found) {
      this.#id = found;
      return found;
    }
    if (this.#id !== null) {
      throw new FenceError(
        `${this.#path} is not the folder that fenced this server before; is the shared storage mounted? After a change of standby.fence on purpose, start the server once without it`,
      );
    }
    const id = crypto.randomUUID();
    // If another machine is faster, its id is used.
    await this.#withOwnFile(`${id}\n`, (own) => this.#link(own, this.#idPath));
    return await this.identify();
  }

  async read(): Promise<Registered> {
    // Storage that is not mounted any more leaves an empty folder, which must not count as free.
    await this.identify();
    return await this.#withOwnFile("", async () => await this.#last());
  }

  async replace(version: string, record: LeaseRecord): Promise<string | null> {
    const next = Number(version) + 1;
    return await this.#withOwnFile(`${JSON.stringify(record)}\n`, async (own) => {
      if (!(await this.#link(own, this.#leasePath(next)))) return null;
      await syncDirectory(this.#path);
      const numbers = await this.#numbers();
      await this.#removeBefore(numbers, next - KEPT);
      // A process that was stopped for long may have written a number that was used and removed before.
      return numbers.some((number) => number > next) ? null : String(next);
    });
  }

  async close(): Promise<void> {}

  async #last(): Promise<Registered> {
    for (;;) {
      const last = Math.max(0, ...(await this.#numbers()));
      if (last === 0) return { record: null, version: "0" };
      const text = await this.#readFile(this.#leasePath(last));
      // The holder has written since and removed it.
      if (text !== null) return { record: parseLeaseRecord(text, this.#leasePath(last)), version: String(last) };
    }
  }

  /** Returns the text of a file; null if there is none. */
  async #readFile(path: string): Promise<string | null> {
    try {
      await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
      const { size } = await file.stat();
      return size > MAX_BYTES ? "" : await file.readFile("utf8");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw this.#unusable(error);
    }
  }

  async #numbers(): Promise<number[]> {
    try {
      return (await readdir(this.#path)).flatMap((name) => Number(LEASE.exec(name)?.[1] ?? []));
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  /** Creates a file of this call's own, with its content synced, and removes it at the end. */
  async #withOwnFile<T>(text: string, use: (path: string) => Promise<T>): Promise<T> {
    const path = join(this.#path, `write-${crypto.randomUUID()}`);
    try {
      await using file = await open(path, "wx", 0o644);
      // The service's umask is 0077, and the other machine's service may be another user.
      await file.chmod(0o644);
      await file.writeFile(text);
      if (text !== "") await file.sync();
    } catch (error) {
      throw this.#unusable(error);
    }
    try {
      return await use(path);
    } finally {
      await unlink(path).catch(() => {});
    }
  }

  async #link(own: string, target: string): Promise<boolean> {
    try {
      await link(own, target);
      return true;
    } catch (error) {
      // On NFS the answer to a successful link may be lost, and its repetition fails.
      const links = await stat(own).then(
        ({ nlink }) => nlink,
        () => 0,
      );
      if (links === 2) return true;
      if (codeOf(error) === "EEXIST") return false;
      throw this.#unusable(error);
    }
  }

  async #removeBefore(numbers: readonly number[], first: number): Promise<void> {
    const old = numbers.filter((number) => number < first).map((number) => this.#leasePath(number));
    // A read or write of another machine is complete within seconds.
    const now = Date.now();
    const left = (await readdir(this.#path))
      .filter((name) => OWN_FILE.test(name))
      .map((name) => join(this.#path, name));
    const ages = await Promise.all(
      left.map((path) =>
        stat(path).then(
          ({ mtimeMs }) => now - mtimeMs,
          () => 0,
        ),
      ),
    );
    const abandoned = left.filter((_, index) => (ages[index] ?? 0) > LEFT_MILLISECONDS);
    await Promise.all([...old, ...abandoned].map((path) => unlink(path).catch(() => {})));
  }

  get #idPath(): string {
    return join(this.#path, "fence-id");
  }

  #leasePath(number: number): string {
    return join(this.#path, `lease-${String(number).padStart(9, "0")}.json`);
  }

  #unusable(error: unknown): FenceError {
    if (error instanceof FenceError) return error;
    const hint =
      HINTS.find(([codes]) => codes.test(codeOf(error)))?.[1] ?? "both servers' users must be able to write there";
    return new FenceError(`the fence's folder ${this.#path} can't be used (${messageOf(error)}): ${hint}`, {
      cause: error,
    });
  }
}

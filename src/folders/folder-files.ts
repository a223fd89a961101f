import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { deferSync, type Store, tables, transact, values, type Writer } from "../database/index.ts";
import type { Folder } from "./folders.ts";
import type { FileFacts } from "./open-directory.ts";

/** A file that was taken from a folder. */
export type FolderFile = typeof tables.folderFiles.$inferSelect;
type FileState = FolderFile["state"];
export type FileFault = NonNullable<FolderFile["reason"]>;

/** A file's content: what it looked like when it was read, and its digest. */
interface ReadContent {
  readonly facts: FileFacts;
  readonly sha256: string;
}

/**
 * The files that were taken from folders. Their states change only through the named transitions here, each of which is
 * one statement guarded by its starting state:
 * ```
 * (in the folder) → transcribing → delivering → moving → done     its row stays for as long as its recording
 *                   transcribing → postponed → transcribing
 *                   transcribing → failing → (in failed/)           its row is removed
 * ```
 * A row begins in the transaction that creates its recording. So a crash leaves either both, or an untouched file.
 */
export class FolderFiles {
  readonly #store: Store;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Returns the files of a folder that are not finished, oldest first. */
  open(folderId: string): FolderFile[] {
    const { folderFiles } = tables;
    return this.#store
      .select()
      .from(folderFiles)
      .where(and(eq(folderFiles.folderId, folderId), inArray(folderFiles.state, [...values.openFileStates])))
      .orderBy(folderFiles.id)
      .all();
  }

  /** Returns the id of the recording of a finished file with this name and content; null if there is none. */
  findDone(folderId: string, { facts, sha256 }: ReadContent): string | null {
    const { folderFiles } = tables;
    const isDone = and(eq(folderFiles.folderId, folderId), eq(folderFiles.state, "done"));
    const isSame = and(eq(folderFiles.name, facts.name), eq(folderFiles.sha256, sha256));
    const found = this.#store
      .select()
      .from(folderFiles)
      .where(and(isDone, isSame, isNotNull(folderFiles.recordingId)))
      .get();
    return found?.recordingId ?? null;
  }

  /** `transcribing`: a file was copied, in the transaction that creates its recording. Replaces its postponed row. */
  claim(writer: Writer, folder: Folder, { facts, sha256 }: ReadContent, recordingId: string): void {
    const { folderFiles } = tables;
    const isPostponed = and(
      eq(folderFiles.folderId, folder.id),
      eq(folderFiles.state, "postponed"),
      eq(folderFiles.name, facts.name),
    );
    const [postponed] = writer.delete(folderFiles).where(isPostponed).returning().all();
    const attempts = postponed?.attempts ?? 0;
    this.#insert(folder, facts, { state: "transcribing", recordingId, sha256, attempts }, writer);
  }

  /** `delivering`: a file with the name and the content of an earlier one gets the results of that one's recording. */
  repeat(folder: Folder, { facts, sha256 }: ReadContent, recordingId: string): void {
    this.#insert(folder, facts, { state: "delivering", recordingId, sha256 });
  }

  /** `failing`: a file can't be transcribed. @param detail sentence about an unusable file */
  refuse(folder: Folder, facts: FileFacts, reason: FileFault, detail: string | null = null): void {
    this.#insert(folder, facts, { state: "failing", reason, detail });
  }

  /** `transcribing` → `delivering`: the recording is completed. */
  transcribed(file: FolderFile): void {
    this.#change(file, "transcribing", { state: "delivering", attempts: 0 });
  }

  /** `delivering` → `moving`: all results are written. They are never generated again. */
  delivered(file: FolderFile): void {
    this.#change(file, "delivering", { state: "moving" });
  }

  /** → `failing`. */
  fail(file: FolderFile, reason: FileFault): void {
    this.#change(file, file.state, { state: "failing", reason });
  }

  /** `transcribing` → `postponed`: the account's quota or the machine ended the attempt. */
  postpone(file: FolderFile, retryAt: number): void {
    this.#change(file, "transcribing", { state: "postponed", attempts: file.attempts + 1, retryAt });
  }

  /** Counts an attempt to write the results that failed. */
  countAttempt(file: FolderFile): void {
    this.#change(file, "delivering", { attempts: file.attempts + 1 });
  }

  /** Records that somebody renamed the file, or changed its time but not its content. */
  follow(file: FolderFile, { name, sizeBytes, modified, inode }: FileFacts): void {
    this.#change(file, file.state, { name, sizeBytes, modified, inode });
  }

  /** `moving` → `done`, or `failing` → removed. Counts the file. */
  finish(file: FolderFile): void {
    const { folderFiles, folders } = tables;
    const isFile = and(eq(folderFiles.id, file.id), eq(folderFiles.state, file.state));
    const hasFailed = file.state === "failing";
    transact(this.#store, (writer) => {
      const [changed] = writer.update(folderFiles).set({ state: "done" }).where(isFile).returning().all();
      if (changed === undefined) return;
      // Of a recording that was deleted meanwhile, nothing stays.
      if (hasFailed || changed.recordingId === null)
        writer.delete(folderFiles).where(eq(folderFiles.id, file.id)).run();
      const counted = hasFailed ? { failed: sql`${folders.failed} + 1` } : { done: sql`${folders.done} + 1` };
      writer.update(folders).set(counted).where(eq(folders.id, file.folderId)).run();
    });
  }

  /** Removes the row of a postponed file that is not in the folder any more. */
  forget(file: FolderFile): void {
    const { folderFiles } = tables;
    this.#store
      .delete(folderFiles)
      .where(and(eq(folderFiles.id, file.id), eq(folderFiles.state, "postponed")))
      .run();
  }

  /** Stores what the server saw in a folder. */
  report(
    folderId: string,
    seen: Pick<Folder, "waiting" | "incomplete" | "unread" | "hindrance" | "hinderedSince" | "seenAt">,
  ): void {
    const { folders } = tables;
    const columns = { ...seen, incomplete: JSON.stringify(seen.incomplete) };
    deferSync(this.#store, () => this.#store.update(folders).set(columns).where(eq(folders.id, folderId)).run());
  }

  #insert(
    { id: folderId }: Folder,
    { name, sizeBytes, modified, inode }: FileFacts,
    values: Pick<FolderFile, "state"> & Partial<FolderFile>,
    writer: Pick<Writer, "insert"> = this.#store,
  ): void {
    const row = { id: Bun.randomUUIDv7(), folderId, name, sizeBytes, modified, inode, createdAt: this.#now() };
    writer
      .insert(tables.folderFiles)
      .values({ ...row, ...values })
      .run();
  }

  #change({ id }: FolderFile, from: FileState, changes: Partial<FolderFile>): void {
    const { folderFiles } = tables;
    this.#store
      .update(folderFiles)
      .set(changes)
      .where(and(eq(folderFiles.id, id), eq(folderFiles.state, from)))
      .run();
  }
}

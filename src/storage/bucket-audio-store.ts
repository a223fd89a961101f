import { mkdirSync } from "node:fs";
import { access, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import { MachineError } from "../disk/index.ts";
import { syncDirectory } from "../files/index.ts";
import { codeOf } from "../text/index.ts";
import type { AudioStore, LocalAudio, LocalAudioStore } from "./audio-store.ts";
import type { Bucket } from "./bucket.ts";
import { isRecordingId } from "./recording-files.ts";

/** Files that are sent at the same time. */
const AT_ONCE = 3;
/** Name of the object, and of the local file, with the id of the data directory whose audio the bucket has. */
const OWNER = "owner";

export interface BucketAudioStoreOptions {
  readonly bucket: Bucket;
  /** Audio that is not in the bucket yet, or that is being processed. */
  readonly local: LocalAudioStore;
  /** Directory for copies of objects while they are used. */
  readonly incoming: string;
  /** Directory for what the store has to remember. */
  readonly state: string;
}

/** State of the moves between this machine and the bucket. */
export interface BucketState {
  /** Number of files that are not in the bucket yet, and of objects that are not removed yet. */
  readonly waiting: number;
  /** Start of the current outage of the bucket, in milliseconds since the epoch; null while it works. */
  readonly failingSince: number | null;
}

/**
 * Audio in a bucket of an object store. New audio is stored on this machine first, so that an outage of the store refuses
 * no recording; a server then moves it. A removal is noted on this machine first, so that the audio is gone at once and an
 * outage only delays its removal from the bucket.
 */
export class BucketAudioStore implements AudioStore {
  readonly #options: BucketAudioStoreOptions;
  /** Ids of local files that the bucket has. */
  readonly #stored = new Set<string>();
  /** Numbers of users of local files, which must not be removed after their move. */
  readonly #inUse = new Map<string, number>();
  /** Directory with an empty file for each recording whose audio has yet to be removed from the bucket. */
  readonly #removals: string;
  #isOwned = false;
  #waiting = 0;
  #failingSince: number | null = null;

  constructor(options: BucketAudioStoreOptions) {
    this.#options = options;
    this.#removals = join(options.state, "removed");
  }

  /** Creates missing directories. Call it before anything else. */
  createDirectories(): void {
    mkdirSync(this.#removals, { recursive: true, mode: 0o700 });
  }

  get state(): BucketState {
    return { waiting: this.#waiting, failingSince: this.#failingSince };
  }

  async prepare(path: string): Promise<void> {
    await this.#options.local.prepare(path);
  }

  async put(id: string, path: string): Promise<void> {
    const { local } = this.#options;
    this.#stored.delete(id);
    await rm(this.#noteOf(id), { force: true });
    await local.put(id, path);
  }

  async open(id: string): Promise<LocalAudio | null> {
    const { local, bucket, incoming } = this.#options;
    if (await this.#isRemoved(id)) return null;
    const here = await local.open(id);
    if (here !== null) return this.#inUseUntilDisposed(id, here);
    const path = join(incoming, `${id}-${crypto.randomUUID()}`);
    const dispose = () => rm(path, { force: true });
    try {
      if (!(await bucket.get(id, path))) return null;
      const { size } = await stat(path);
      return { path, diskBytes: size, [Symbol.asyncDispose]: dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  async has(id: string): Promise<boolean> {
    const { local, bucket } = this.#options;
    if (await this.#isRemoved(id)) return false;
    return (await local.has(id)) || (await bucket.has(id));
  }

  async remove(id: string): Promise<void> {
    const note = await open(this.#noteOf(id), "w", 0o600);
    await note.close();
    this.#stored.delete(id);
    await this.#options.local.remove(id);
  }

  async list(): Promise<string[]> {
    const { local, bucket } = this.#options;
    await this.#requireOwned();
    const [here, there, removed] = await Promise.all([local.list(), bucket.list(), this.#removed()]);
    return [...new Set([...here, ...there.filter(isRecordingId)])].filter((id) => !removed.has(id));
  }

  async sync(): Promise<void> {
    await Promise.all([this.#options.local.sync(), syncDirectory(this.#removals)]);
  }

  /**
   * Sends new audio to the bucket, removes from this machine what is no longer processed, and removes from the bucket what
   * was removed here. Only the process that processes recordings may call it, once at a time.
   * @param isProcessed returns whether the file of a recording is still needed on this machine
   * @param signal ends the move; what is left is moved by the next call
   * @throws {MachineError} when the bucket can't be used
   */
  async move(isProcessed: (id: string) => boolean, now: number, signal: AbortSignal): Promise<void> {
    const removed = await this.#removed();
    const here = await this.#options.local.list();
    const toSend = here.filter((id) => !this.#stored.has(id) && !removed.has(id));
    this.#waiting = toSend.length + removed.size;
    try {
      await this.#requireOwned();
      await inParallel([...removed], (id) => this.#removeThere(id));
      await inParallel(toSend, (id) => this.#send(id, signal));
      this.#failingSince = null;
    } catch (error) {
      if (!signal.aborted) this.#failingSince ??= now;
      throw error;
    }
    for (const id of here) {
      if (this.#stored.has(id) && !this.#inUse.has(id) && !isProcessed(id)) await this.#options.local.remove(id);
    }
    for (const id of this.#stored) if (!(await this.#options.local.has(id))) this.#stored.delete(id);
  }

  /**
   * Makes the bucket that of this data directory, which would remove objects of recordings that it does not know.
   * @throws {MachineError} when the bucket belongs to another data directory
   */
  async #requireOwned(): Promise<void> {
    if (this.#isOwned) return;
    const { bucket, state, incoming } = this.#options;
    const ownPath = join(state, OWNER);
    await writeFile(ownPath, crypto.randomUUID(), { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    const copy = join(incoming, `${OWNER}-${crypto.randomUUID()}`);
    try {
      const isNew = !(await bucket.get(OWNER, copy));
      if (!isNew && (await readFile(copy, "utf8")) !== (await readFile(ownPath, "utf8"))) {
        throw new MachineError(
          "AUDIO_STORE",
          `${bucket.address} belongs to another data directory; use another prefix, or remove the object ${OWNER} there if that server is gone`,
        );
      }
      if (isNew) await bucket.put(OWNER, ownPath);
      await bucket.removeParts();
      this.#isOwned = true;
    } finally {
      await rm(copy, { force: true });
    }
  }

  async #send(id: string, signal: AbortSignal): Promise<void> {
    const { local, bucket } = this.#options;
    this.#stored.add(id);
    try {
      await bucket.put(id, local.pathOf(id), signal);
    } catch (error) {
      this.#stored.delete(id);
      // It was removed meanwhile.
      if (codeOf(error) !== "ENOENT") throw error;
    }
    // A file that was replaced or removed meanwhile is no longer marked as stored: the next call sends or removes it.
    this.#waiting -= 1;
  }

  async #removeThere(id: string): Promise<void> {
    const { local, bucket } = this.#options;
    // After a crash between the note and the removal, the file is here.
    await local.remove(id);
    await bucket.remove(id);
    await rm(this.#noteOf(id), { force: true });
    this.#waiting -= 1;
  }

  async #removed(): Promise<Set<string>> {
    return new Set((await readdir(this.#removals)).filter(isRecordingId));
  }

  async #isRemoved(id: string): Promise<boolean> {
    return access(this.#noteOf(id)).then(
      () => true,
      () => false,
    );
  }

  /** @throws {RangeError} for an id that is not a UUID */
  #noteOf(id: string): string {
    // The local store checks the id.
    this.#options.local.pathOf(id);
    return join(this.#removals, id);
  }

  #inUseUntilDisposed(id: string, audio: LocalAudio): LocalAudio {
    const count = (change: number) => {
      const users = (this.#inUse.get(id) ?? 0) + change;
      if (users > 0) this.#inUse.set(id, users);
      else this.#inUse.delete(id);
    };
    count(1);
    return { ...audio, [Symbol.asyncDispose]: async () => count(-1) };
  }
}

/** Runs tasks, some of them at the same time. After a failure, no further one begins, and those that have begun end. */
async function inParallel(ids: readonly string[], task: (id: string) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  try {
    await Promise.all(ids.map((id) => queue.add(() => task(id))));
  } finally {
    queue.clear();
    await queue.onIdle();
  }
}

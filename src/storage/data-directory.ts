import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Settings } from "../config/index.ts";
import { lockFile } from "../files/index.ts";
import { ExpectedError, messageOf } from "../text/index.ts";
import { type AudioStore, LocalAudioStore } from "./audio-store.ts";
import { Bucket, type BucketOptions } from "./bucket.ts";
import { BucketAudioStore } from "./bucket-audio-store.ts";
import { bucketOptionsOf } from "./bucket-options.ts";
import { LiveFiles } from "./live-files.ts";
import { RecordingFiles } from "./recording-files.ts";

/** The data directory cannot be used; the message gives the reason and what to do. */
export class DataDirectoryError extends ExpectedError {
  override readonly name: string = "DataDirectoryError";
}

/** Another server uses the data directory; two servers would process the same recordings. */
export class DataDirectoryInUseError extends DataDirectoryError {
  override readonly name = "DataDirectoryInUseError";
}

/** Paths in a data directory, whether they exist or not; computing them creates nothing. */
export class DataPaths {
  readonly root: string;
  readonly databasePath: string;
  /** Lock file that the running server holds. */
  readonly lockPath: string;
  readonly incoming: string;
  readonly uploads: string;
  readonly work: string;
  /** The audio of recordings in `uploads`: all of it, unless a bucket stores it. */
  readonly localAudio: LocalAudioStore;
  /** Playback copies of recordings, for a browser. The folder has its earlier name. */
  readonly playback: string;
  /** The sound of live sessions. */
  readonly live: string;
  /** Installed models, in addition to those of the program. */
  readonly models: string;
  /** Data that the server stores for its own use. */
  readonly state: string;

  constructor(root: string) {
    this.root = resolve(root);
    this.databasePath = join(this.root, "transcribe.db");
    this.lockPath = join(this.root, "server.lock");
    this.incoming = join(this.root, "incoming");
    this.uploads = join(this.root, "uploads");
    this.localAudio = new LocalAudioStore(this.uploads);
    this.work = join(this.root, "work");
    this.playback = join(this.root, "listening");
    this.live = join(this.root, "live");
    this.models = join(this.root, "models");
    this.state = join(this.root, "state");
  }

  /** Returns the files that are made from a recording's audio. @throws {RangeError} when the id is not a UUID */
  filesOf(recordingId: string): RecordingFiles {
    return new RecordingFiles(this, recordingId);
  }

  /** Returns the files of a live session. @throws {RangeError} when the id is not a UUID */
  liveFilesOf(sessionId: string): LiveFiles {
    return new LiveFiles(this.live, sessionId);
  }

  /** Path of the cached results of the self-tests on this machine. */
  get verdicts(): string {
    return join(this.state, "devices.json");
  }
}

/**
 * Layout of the data directory:
 * ```
 * transcribe.db     the database, the only authoritative state
 * server.lock       lock file that the running server holds
 * incoming/         incomplete uploads, samples of self-tests; files that a crash left here belong to no recording
 * uploads/ID        the recording as it was sent; a bucket may store it instead
 * listening/ID/     playback copy for a browser; made from the upload and removed with it
 * live/ID/          sound of a live session; removed when the session has become a recording, or has ended
 * models/           installed models, in addition to those of the program
 * state/            data that the server stores for its own use
 * work/ID/          PCM and step files; removed when the record is terminal
 * backups/          copies of the database: those that upgrades made, and others
 * ```
 */
export class DataDirectory extends DataPaths {
  /** The audio of recordings. */
  readonly audio: AudioStore;
  /** The same, if a bucket stores it; null if this directory does. */
  readonly bucketAudio: BucketAudioStore | null;

  /**
   * Creates missing directories, accessible only to their owner. Root must become the owner first: see becomeOwner.
   * @param bucket stores the audio; null for this directory
   * @throws {DataDirectoryError} when this user cannot use the directory
   */
  constructor(root: string, bucket: BucketOptions | null = null) {
    super(root);
    const { localAudio: local, incoming } = this;
    const state = join(this.state, "audio");
    this.bucketAudio =
      bucket === null ? null : new BucketAudioStore({ bucket: new Bucket(bucket), local, incoming, state });
    this.audio = this.bucketAudio ?? local;
    try {
      const fresh = mkdirSync(this.root, { recursive: true, mode: 0o700 }) !== undefined;
      if (fresh) chmodSync(this.root, 0o700);
      requireOwn(this.root);
      for (const directory of [this.incoming, this.uploads, this.work, this.playback, this.live, this.state]) {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
      }
      this.bucketAudio?.createDirectories();
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  /** Opens the data directory of the settings. @throws {DataDirectoryError} @throws {BucketSettingsError} */
  static of(settings: Pick<Settings, "storage" | "s3">): DataDirectory {
    return new DataDirectory(settings.storage.data_dir, bucketOptionsOf(settings));
  }

  /** Removes all files of a recording. @throws {RangeError} when the id is not a UUID */
  async removeFiles(recordingId: string): Promise<void> {
    const files = this.filesOf(recordingId);
    await files.removeWork();
    await this.audio.remove(recordingId);
    // After the audio: code that makes a playback copy meanwhile checks for the audio once the copy has its name.
    await files.removePlayback();
  }

  /** Removes all files that were derived from the recordings of a database that another one replaced. */
  removeDerived(): void {
    for (const directory of [this.work, this.playback]) {
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
    }
  }

  /**
   * Removes files that a crash left behind. Call it with the lock held, before the server accepts uploads.
   * @param areOpen returns, for each id that has a record, whether that recording is queued or processing
   */
  cleanUp(areOpen: (ids: readonly string[]) => ReadonlyMap<string, boolean>): void {
    for (const name of readdirSync(this.incoming)) rmSync(join(this.incoming, name), { recursive: true, force: true });
    const withWork = readdirSync(this.work);
    const open = areOpen(withWork);
    for (const name of withWork) {
      if (open.get(name) !== true) rmSync(join(this.work, name), { recursive: true, force: true });
    }
    const withUpload = readdirSync(this.uploads);
    const withPlayback = readdirSync(this.playback);
    const known = areOpen([...withUpload, ...withPlayback]);
    for (const name of withUpload) if (!known.has(name)) rmSync(join(this.uploads, name), { force: true });
    // A bucket is not asked which audio it has: at a start it may be out of order.
    const withAudio = new Set(this.bucketAudio === null ? withUpload : withPlayback);
    for (const name of withPlayback) {
      const isOrphan = !known.has(name) || !withAudio.has(name);
      if (isOrphan) rmSync(join(this.playback, name), { recursive: true, force: true });
    }
  }

  /**
   * Locks the directory for this process, until the process exits for any reason.
   * @returns a function that releases the lock
   * @throws {DataDirectoryInUseError} when another process holds the lock
   * @throws {DataDirectoryError} when this user cannot lock the directory
   */
  lock(): () => void {
    let unlock: (() => void) | null;
    try {
      unlock = lockFile(this.lockPath);
    } catch (error) {
      throw this.#unusable(error);
    }
    if (unlock === null) {
      throw new DataDirectoryInUseError(
        `another transcribe server uses ${this.root}; stop it, or give this one its own --data-dir`,
      );
    }
    return unlock;
  }

  #unusable(error: unknown): DataDirectoryError {
    const why = messageOf(error);
    return new DataDirectoryError(
      `the data directory ${this.root} can't be used (${why}); be the user that the server runs as, or name another with --data-dir`,
      { cause: error },
    );
  }
}

/**
 * Refuses a directory whose owner could lead this user elsewhere.
 * @throws {Error} when root works in another user's directory, or when a stranger's directory is writable by all users
 */
function requireOwn(root: string): void {
  const { uid, mode } = statSync(root);
  const userId = process.geteuid?.() ?? uid;
  if (uid === userId || uid === 0) return;
  if (userId === 0) throw new Error(`it belongs to another user (uid ${uid}), with whose rights root works there`);
  if ((mode & 0o002) !== 0) throw new Error(`it belongs to another user (uid ${uid}) and is open to all`);
}

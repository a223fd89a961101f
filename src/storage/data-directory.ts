import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../text/index.ts";
import { DataPaths, requireRecordingId } from "./data-paths.ts";
import { lockFile } from "./lock-file.ts";

/** The data directory cannot be used; the message gives the reason and what to do. */
export class DataDirectoryError extends Error {
  override readonly name: string = "DataDirectoryError";
}

/** Another server uses the data directory; two servers would process the same recordings. */
export class DataDirectoryInUseError extends DataDirectoryError {
  override readonly name = "DataDirectoryInUseError";
}

/**
 * Layout of the data directory:
 * ```
 * transcribe.db     the database, the only authoritative state
 * server.lock       lock file that the running server holds
 * incoming/         incomplete uploads; files that a crash left here belong to no recording
 * uploads/ID        the recording as it was sent
 * listening/ID/     playback copy for a browser; made from the upload and removed with it
 * models/           installed models, in addition to those of the program
 * state/            data that the server stores for its own use
 * work/ID/          PCM and step files; removed when the record is terminal
 * backups/          copies of the database: those that upgrades made, and others
 * ```
 */
export class DataDirectory extends DataPaths {
  /**
   * Creates missing directories, accessible only to their owner. Root must become the owner first: see becomeOwner.
   * @throws {DataDirectoryError} when this user cannot use the directory
   */
  constructor(root: string) {
    super(root);
    try {
      const fresh = mkdirSync(this.root, { recursive: true, mode: 0o700 }) !== undefined;
      if (fresh) chmodSync(this.root, 0o700);
      requireOwn(this.root);
      for (const directory of [this.incoming, this.uploads, this.work, this.listening, this.state]) {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
      }
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  workDirectory(recordingId: string): string {
    return join(this.work, requireRecordingId(recordingId));
  }

  /** Removes the step files of a completed or failed recording. */
  removeWork(recordingId: string): void {
    rmSync(this.workDirectory(recordingId), { recursive: true, force: true });
  }

  /**
   * Does the same as removeWork without blocking the event loop. A recording of several days has thousands of files,
   * and one of them has gigabytes.
   */
  async removeWorkAside(recordingId: string): Promise<void> {
    await rm(this.workDirectory(recordingId), { recursive: true, force: true });
  }

  /** Returns the directory of a recording's playback copy, which is either complete or absent. */
  listeningDirectory(recordingId: string): string {
    return join(this.listening, requireRecordingId(recordingId));
  }

  /** Returns the directory in which a playback copy is being made. */
  listeningDraft(recordingId: string): string {
    return join(this.listening, `${requireRecordingId(recordingId)}.part`);
  }

  /** Removes every file of a recording. */
  removeRecording(recordingId: string): void {
    this.removeWork(recordingId);
    rmSync(this.uploadPath(recordingId), { force: true });
    // After the upload: code that makes a playback copy meanwhile checks for the upload once the copy has its name.
    this.removeListening(recordingId);
  }

  /** Does the same as removeRecording without blocking the event loop. */
  async removeRecordingAside(recordingId: string): Promise<void> {
    await this.removeWorkAside(recordingId);
    await rm(this.uploadPath(recordingId), { force: true });
    await this.removeListeningAside(recordingId);
  }

  /** Removes a recording's playback copy, including one that is being made. */
  removeListening(recordingId: string): void {
    for (const path of this.#listeningPlaces(recordingId)) rmSync(path, { recursive: true, force: true });
  }

  /** Does the same as removeListening without blocking the event loop. */
  async removeListeningAside(recordingId: string): Promise<void> {
    for (const path of this.#listeningPlaces(recordingId)) await rm(path, { recursive: true, force: true });
  }

  /** Removes all files that were derived from the recordings of a database that another one replaced. */
  removeDerived(): void {
    for (const directory of [this.work, this.listening]) {
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
    }
  }

  /**
   * Removes files that a crash left behind. Call it with the lock held, before the server accepts uploads.
   * @param areOpen returns, for each id that has a record, whether that recording is queued or processing
   */
  sweep(areOpen: (ids: readonly string[]) => ReadonlyMap<string, boolean>): void {
    for (const name of readdirSync(this.incoming)) rmSync(join(this.incoming, name), { recursive: true, force: true });
    const worked = readdirSync(this.work);
    const open = areOpen(worked);
    for (const name of worked) {
      if (open.get(name) !== true) rmSync(join(this.work, name), { recursive: true, force: true });
    }
    const uploaded = readdirSync(this.uploads);
    const known = areOpen(uploaded);
    for (const name of uploaded) if (!known.has(name)) rmSync(join(this.uploads, name), { force: true });
    const kept = new Set(uploaded.filter((id) => known.has(id)));
    for (const name of readdirSync(this.listening)) {
      if (!kept.has(name)) rmSync(join(this.listening, name), { recursive: true, force: true });
    }
  }

  /**
   * Locks the directory for this process, until the process exits for any reason.
   * @returns a function that releases the lock
   * @throws {DataDirectoryInUseError} when another process holds the lock
   * @throws {DataDirectoryError} when this user cannot lock the directory
   */
  lock(): () => void {
    let giveBack: (() => void) | null;
    try {
      giveBack = lockFile(this.lockPath);
    } catch (error) {
      throw this.#unusable(error);
    }
    if (giveBack === null) {
      throw new DataDirectoryInUseError(
        `another transcribe server uses ${this.root}; stop it, or give this one its own --data-dir`,
      );
    }
    return giveBack;
  }

  #listeningPlaces(recordingId: string): string[] {
    return [this.listeningDraft(recordingId), this.listeningDirectory(recordingId)];
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

import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../text/index.ts";
import { DataPaths, requireRecordingId } from "./data-paths.ts";
import { lockFile } from "./lock-file.ts";

/** The data directory can't be used; the message says why and what to do. */
export class DataDirectoryError extends Error {
  override readonly name: string = "DataDirectoryError";
}

/** Another server has the data directory; two would work off the same recordings. */
export class DataDirectoryInUseError extends DataDirectoryError {
  override readonly name = "DataDirectoryInUseError";
}

/**
 * Where everything lies on disk:
 * ```
 * transcribe.db     the truth
 * server.lock       held by the running server
 * incoming/         uploads on their way in; what a crash left here is nobody's
 * uploads/ID        the recording as it was sent
 * listening/ID/     what a browser plays of it; made of the upload, and gone with it
 * models/           models that were installed beside those of the program
 * work/ID/          PCM and step files; gone when the record is terminal
 * backups/          copies of the database: those that upgrades made, and others
 * ```
 */
export class DataDirectory extends DataPaths {
  /**
   * Makes what is missing, readable by its owner alone. Root becomes the owner first: see becomeOwner.
   * @throws {DataDirectoryError} where this user can't
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

  /** Removes the step files of a recording that reached its end. */
  removeWork(recordingId: string): void {
    rmSync(this.workDirectory(recordingId), { recursive: true, force: true });
  }

  /** The same where others wait meanwhile: the files of days are thousands, one of them gigabytes. */
  async removeWorkAside(recordingId: string): Promise<void> {
    await rm(this.workDirectory(recordingId), { recursive: true, force: true });
  }

  /** Where the copy of a recording lies that is to be listened to: whole, or not there. */
  listeningDirectory(recordingId: string): string {
    return join(this.listening, requireRecordingId(recordingId));
  }

  /** Where that copy is being made. */
  listeningDraft(recordingId: string): string {
    return join(this.listening, `${requireRecordingId(recordingId)}.part`);
  }

  /** Removes every file of a recording. */
  removeRecording(recordingId: string): void {
    this.removeWork(recordingId);
    rmSync(this.uploadPath(recordingId), { force: true });
    // After the upload: whoever makes one meanwhile looks for that when the copy has its name.
    this.removeListening(recordingId);
  }

  /** The same where others wait meanwhile. */
  async removeRecordingAside(recordingId: string): Promise<void> {
    await this.removeWorkAside(recordingId);
    await rm(this.uploadPath(recordingId), { force: true });
    await this.removeListeningAside(recordingId);
  }

  /** Removes a recording's copy to listen to, and what is being made of one. */
  removeListening(recordingId: string): void {
    for (const path of this.#listeningPlaces(recordingId)) rmSync(path, { recursive: true, force: true });
  }

  /** The same where others wait meanwhile. */
  async removeListeningAside(recordingId: string): Promise<void> {
    for (const path of this.#listeningPlaces(recordingId)) await rm(path, { recursive: true, force: true });
  }

  /** Removes what was made of the recordings of a database that another one replaced. */
  removeDerived(): void {
    for (const directory of [this.work, this.listening]) {
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
    }
  }

  /**
   * Removes what a crash left behind. Call it with the lock held, before uploads are taken.
   * @param areOpen says of those ids that there are records of whether these are queued or processing
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
   * Takes the directory for this process, until that ends however it may.
   * @returns a function that gives it back
   * @throws {DataDirectoryInUseError} @throws {DataDirectoryError} where this user can't
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
 * @throws {Error} for root in another user's directory, and for a stranger's directory that is open to all
 */
function requireOwn(root: string): void {
  const { uid, mode } = statSync(root);
  const userId = process.geteuid?.() ?? uid;
  if (uid === userId || uid === 0) return;
  if (userId === 0) throw new Error(`it belongs to another user (uid ${uid}), with whose rights root works there`);
  if ((mode & 0o002) !== 0) throw new Error(`it belongs to another user (uid ${uid}) and is open to all`);
}

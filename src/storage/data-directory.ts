import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../wording/index.ts";
import { DataPaths } from "./data-paths.ts";
import { foreignPlace } from "./foreign-place.ts";
import { lockFile } from "./lock-file.ts";
import { ownAs } from "./own-as.ts";

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
   * Makes what is missing, readable by its owner alone.
   * @throws {DataDirectoryError} where this user can't
   */
  constructor(root: string) {
    super(root);
    try {
      const fresh = mkdirSync(this.root, { recursive: true, mode: 0o700 }) !== undefined;
      if (fresh) chmodSync(this.root, 0o700);
      const foreign = foreignPlace(this, process.geteuid?.() ?? 0);
      if (foreign !== null) throw new Error(foreign);
      for (const directory of [this.incoming, this.uploads, this.work, this.listening, this.state]) {
        const made = mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined;
        if (made) ownAs(this.root, directory);
      }
    } catch (error) {
      throw this.#unusable(error);
    }
  }

  uploadPath(recordingId: string): string {
    return join(this.uploads, recordingId);
  }

  workDirectory(recordingId: string): string {
    return join(this.work, recordingId);
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
    return join(this.listening, recordingId);
  }

  /** Where that copy is being made. */
  listeningDraft(recordingId: string): string {
    return join(this.listening, `${recordingId}.part`);
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

  /**
   * Removes what a crash left behind. Call it with the lock held, before uploads are taken.
   * @param areOpen says of those ids that there are records of whether these are queued or processing
   */
  sweep(areOpen: (ids: readonly string[]) => ReadonlyMap<string, boolean>): void {
    for (const name of readdirSync(this.incoming)) rmSync(join(this.incoming, name), { recursive: true, force: true });
    const worked = readdirSync(this.work);
    const open = areOpen(worked);
    for (const id of worked) if (open.get(id) !== true) this.removeWork(id);
    const uploaded = readdirSync(this.uploads);
    const known = areOpen(uploaded);
    for (const id of uploaded) if (!known.has(id)) rmSync(this.uploadPath(id), { force: true });
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
    ownAs(this.root, this.lockPath);
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

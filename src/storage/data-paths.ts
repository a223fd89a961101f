import { join, resolve } from "node:path";

/** Paths in a data directory, whether they exist or not; computing them creates nothing. */
export class DataPaths {
  readonly root: string;
  readonly databasePath: string;
  /** Lock file that the running server holds. */
  readonly lockPath: string;
  readonly incoming: string;
  readonly uploads: string;
  readonly work: string;
  /** Playback copies of recordings, for a browser. */
  readonly listening: string;
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
    this.work = join(this.root, "work");
    this.listening = join(this.root, "listening");
    this.models = join(this.root, "models");
    this.state = join(this.root, "state");
  }

  /** Returns the path of the recording as it was sent. @throws {RangeError} as requireRecordingId does */
  uploadPath(recordingId: string): string {
    return join(this.uploads, requireRecordingId(recordingId));
  }

  /** Path of the cached results of the self-tests on this machine. */
  get verdicts(): string {
    return join(this.state, "devices.json");
  }
}

const recordingIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns an id that becomes part of a path, after checking its form; the id may come from anywhere.
 * @throws {RangeError} when the id is not a UUID, because its path could lead elsewhere
 */
export function requireRecordingId(id: string): string {
  if (!recordingIdForm.test(id)) throw new RangeError("a recording's files are named by its id, a UUID; this is none");
  return id;
}

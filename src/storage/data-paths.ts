import { join, resolve } from "node:path";

/** Where everything lies in a data directory, whether it is there or not; looking makes nothing. */
export class DataPaths {
  readonly root: string;
  readonly databasePath: string;
  /** Held by the running server. */
  readonly lockPath: string;
  readonly incoming: string;
  readonly uploads: string;
  readonly work: string;
  /** Copies of recordings to listen to in a browser. */
  readonly listening: string;
  /** Models that were installed beside those of the program. */
  readonly models: string;
  /** What the server notes for itself. */
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

  /** The recording as it was sent. @throws {RangeError} as requireRecordingId */
  uploadPath(recordingId: string): string {
    return join(this.uploads, requireRecordingId(recordingId));
  }

  /** The verdicts of the self-tests on this machine. */
  get verdicts(): string {
    return join(this.state, "devices.json");
  }
}

const recordingIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns an id that is about to become part of a path, wherever it came from.
 * @throws {RangeError} for what is no UUID, which could lead elsewhere
 */
export function requireRecordingId(id: string): string {
  if (!recordingIdForm.test(id)) throw new RangeError("a recording's files are named by its id, a UUID; this is none");
  return id;
}

import { join, resolve } from "node:path";
import { RecordingFiles } from "./recording-files.ts";

/** Paths in a data directory, whether they exist or not; computing them creates nothing. */
export class DataPaths {
  readonly root: string;
  readonly databasePath: string;
  /** Lock file that the running server holds. */
  readonly lockPath: string;
  readonly incoming: string;
  readonly uploads: string;
  readonly work: string;
  /** Playback copies of recordings, for a browser. The folder has its earlier name. */
  readonly playback: string;
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
    this.playback = join(this.root, "listening");
    this.models = join(this.root, "models");
    this.state = join(this.root, "state");
  }

  /** Returns the files of a recording. @throws {RangeError} when the id is not a UUID */
  filesOf(recordingId: string): RecordingFiles {
    return new RecordingFiles(this, recordingId);
  }

  /** Path of the cached results of the self-tests on this machine. */
  get verdicts(): string {
    return join(this.state, "devices.json");
  }
}

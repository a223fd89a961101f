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

  /** The verdicts of the self-tests on this machine. */
  get verdicts(): string {
    return join(this.state, "devices.json");
  }
}

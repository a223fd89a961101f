import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isRecordingId } from "./recording-files.ts";

/** The files of one live session. They exist until the session has become a recording, or has ended. */
export class LiveFiles {
  /** The work area of the session's operations. */
  readonly directory: string;
  /** The sound so far: 16 kHz, mono, signed 16-bit little-endian samples. */
  readonly pcm: string;

  /** @throws {RangeError} when the id is not a UUID, because its path could lead elsewhere */
  constructor(live: string, id: string) {
    if (!isRecordingId(id)) throw new RangeError("a live session's files are named by its id, a UUID; this is none");
    this.directory = join(live, id);
    this.pcm = join(this.directory, "sound.pcm");
  }

  create(): void {
    mkdirSync(this.directory, { mode: 0o700 });
  }

  /** Removes the files, also while they are in use. */
  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { ffmpegPath } from "../../../harness/checkout.ts";
import { waveHeader } from "../../../harness/media.ts";
import { newRecording } from "../../../harness/new-recording.ts";
import { createAccount } from "../../../src/accounts/index.ts";
import { PlaybackCopies, type PlaybackOptions, type PlaybackState } from "../../../src/media/index.ts";
import { newRecordingId, Recordings } from "../../../src/recordings/index.ts";
import { DataDirectory, DiskSpace, openDatabase } from "../../../src/storage/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";

/** A data directory with recordings and their playback copies. */
export class Workplace {
  readonly dataDirectory: DataDirectory;
  readonly recordings: Recordings;
  readonly copies: PlaybackCopies;
  isBusy = false;
  now = 1_000_000;
  readonly #accountId: string;

  constructor(root: string, options: Partial<PlaybackOptions> = {}) {
    this.dataDirectory = new DataDirectory(root);
    const store = openDatabase(this.dataDirectory.databasePath);
    this.recordings = new Recordings(store, () => this.now);
    this.#accountId = createAccount(store, `acme-${newRecordingId(1)}`, { actor: "operator", now: 1 }).id;
    this.copies = new PlaybackCopies({
      recordings: this.recordings,
      dataDirectory: this.dataDirectory,
      diskSpace: new DiskSpace(root, () => 0),
      ffmpegPath,
      maxSeconds: () => 64_800,
      isBusy: () => this.isBusy,
      log: createLogger("silent"),
      now: () => this.now,
      watchMilliseconds: 10,
      ...options,
    });
  }

  /** Creates a recording of an upload. */
  async enter(path: string): Promise<string> {
    const { id } = this.recordings.create(newRecording(newRecordingId(this.now++), this.#accountId));
    await copyFile(path, this.dataDirectory.audio.pathOf(id));
    return id;
  }

  /** Creates a completed recording. */
  async completed(path: string, durationSeconds: number): Promise<string> {
    const id = await this.enter(path);
    this.recordings.claim(id);
    this.recordings.describe(id, { durationSeconds });
    this.recordings.complete(id, []);
    return id;
  }

  async until(id: string, state: PlaybackState["state"]): Promise<PlaybackState> {
    await until(async () => (await this.copies.stateOf(id)).state === state);
    return await this.copies.stateOf(id);
  }

  /** Waits until a part of a copy is on the disk. */
  async untilBegun(id: string): Promise<void> {
    await until(async () => {
      const state = await this.copies.stateOf(id);
      return state.state === "making" && state.percent !== null && state.percent > 0;
    });
  }

  get listening(): string[] {
    return readdirSync(this.dataDirectory.playback).sort();
  }
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(10);
}

/** Makes hours of silence as a sparse file, long enough to be interrupted. */
export function longRecording(path: string, hours = 4): string {
  const claimedBytes = 16_000 * 2 * hours * 3600;
  writeFileSync(path, waveHeader({ channels: 1, rateHz: 16_000, claimedBytes }));
  truncateSync(path, claimedBytes + 44);
  return path;
}

/** Returns whether an ffmpeg process uses a file. */
export function isAtWorkOn(path: string): boolean {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return line.includes("libopus") && line.includes(path);
    } catch {
      // It has ended in the meantime.
      return false;
    }
  });
}

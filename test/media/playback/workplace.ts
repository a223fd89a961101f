import { readdirSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { ffmpegPath, samplePath } from "../../../harness/checkout.ts";
import { newRecording } from "../../../harness/new-recording.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { createAccount } from "../../../src/accounts/index.ts";
import { openDatabase } from "../../../src/database/index.ts";
import { DiskSpace } from "../../../src/disk/index.ts";
import { PlaybackCopies, type PlaybackOptions, type PlaybackState } from "../../../src/media/index.ts";
import { newRecordingId, Recordings } from "../../../src/recordings/index.ts";
import { DataDirectory } from "../../../src/storage/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { ffmpegsNaming, sparseWave, until } from "../media-folder.ts";

export const speech = samplePath("jfk.mp3");
const SPEECH_SECONDS = 11;
/** Duration of a silent recording whose copy takes long enough to be interrupted. */
const LONG_HOURS = 4;

/** A data directory with recordings and their playback copies. */
export class Workplace implements Disposable {
  readonly root: string;
  readonly dataDirectory: DataDirectory;
  readonly recordings: Recordings;
  readonly copies: PlaybackCopies;
  isBusy = false;
  now = 1_000_000;
  /** Returns how many bytes of the disk must stay free. */
  reserve = () => 0;
  readonly #accountId: string;
  readonly #stack = new DisposableStack();

  /** @param directory of an earlier workplace, or a temporary one that exists until disposal */
  constructor(options: Partial<PlaybackOptions> = {}, directory?: string) {
    const root = directory ?? this.#stack.use(temporaryDirectory()).path;
    this.root = root;
    this.dataDirectory = new DataDirectory(root);
    const store = openDatabase(this.dataDirectory.databasePath);
    this.recordings = new Recordings(store, () => this.now);
    this.#accountId = createAccount(store, `acme-${newRecordingId(1)}`, { actor: "operator", now: 1 }).id;
    this.copies = new PlaybackCopies({
      recordings: this.recordings,
      dataDirectory: this.dataDirectory,
      diskSpace: new DiskSpace(root, () => this.reserve()),
      ffmpegPath,
      maxSeconds: () => 64_800,
      isBusy: () => this.isBusy,
      log: createLogger("silent"),
      now: () => this.now,
      watchMilliseconds: 10,
      ...options,
    });
  }

  [Symbol.dispose](): void {
    this.#stack.dispose();
  }

  /** Creates a recording of an upload. */
  async enter(path = speech): Promise<string> {
    const { id } = this.recordings.create(newRecording(newRecordingId(this.now++), this.#accountId));
    await copyFile(path, this.dataDirectory.localAudio.pathOf(id));
    return id;
  }

  /** Creates a completed recording. */
  async completed(path = speech, durationSeconds = SPEECH_SECONDS): Promise<string> {
    const id = await this.enter(path);
    this.recordings.claim(id);
    this.recordings.describe(id, { durationSeconds });
    this.recordings.complete(id, []);
    return id;
  }

  /** Creates a completed recording of hours of silence. */
  async completedLong(hours = LONG_HOURS): Promise<string> {
    return await this.completed(sparseWave(join(this.root, "long.wav"), hours * 3600), hours * 3600);
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

/** Returns whether an ffmpeg process makes a copy of a file in a folder. */
export const isAtWorkOn = (path: string) => ffmpegsNaming(path).some((line) => line.includes("libopus"));

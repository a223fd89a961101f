import PQueue from "p-queue";
import type { Settings } from "../config/index.ts";
import type { DiskSpace } from "../disk/index.ts";
import { estimateDecodedBytes, estimateResultBytes, MediaError, type probeRecording } from "../media/index.ts";
import { IntakeError } from "./intake-error.ts";

export interface ExamineServices {
  /** Probes a stored file; see probeRecording. */
  readonly probe: (path: string) => ReturnType<typeof probeRecording>;
  readonly diskSpace: DiskSpace;
  readonly limits: () => Settings["limits"];
}

/** A recording on disk, which the library takes over. */
export interface SourceFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Name with its extension. */
  readonly name: string;
}

/**
 * Number of uploads probed in parallel. A probe takes milliseconds. For a hostile file it takes seconds and memory, up
 * to its limits.
 */
const MAX_PROBES = 4;
/** Number of parallel probes per account, so that hostile files of one account leave places to the others. */
const MAX_PROBES_OF_ACCOUNT = 2;

/** Checks that received files are recordings which this server can process. */
export class RecordingExaminer {
  readonly #services: ExamineServices;
  readonly #probes = new PQueue({ concurrency: MAX_PROBES });
  readonly #probesByAccount = new Map<string, PQueue>();

  constructor(services: ExamineServices) {
    this.#services = services;
  }

  /**
   * Checks a file of an account, when it is the account's turn.
   * @throws {IntakeError} `no_recording`, `too_long`, `never_fits`, `probe_timed_out`, `no_space_to_process`
   */
  async examine({ path, sizeBytes }: SourceFile, accountId: string): Promise<void> {
    const { probe, diskSpace } = this.#services;
    const { recording_seconds: maxSeconds } = this.#services.limits();
    const probed = await this.#inTurn(accountId, () => probe(path)).catch((error: unknown) => {
      // A faulty file reaches the CPU time limit before this wall-clock limit, and is refused for that.
      if (!(error instanceof MediaError) || error.fault !== "ffmpeg_timed_out") throw error;
      throw new IntakeError({ kind: "probe_timed_out" });
    });
    if (!probed.ok) throw new IntakeError({ kind: "no_recording", reason: probed.reason });
    if (!probed.durationIsEstimate && (probed.durationSeconds ?? 0) > maxSeconds) {
      throw new IntakeError({ kind: "too_long", maxSeconds });
    }
    const soundBytes = estimateDecodedBytes(probed, sizeBytes, maxSeconds);
    const neededBytes = soundBytes + estimateResultBytes(soundBytes);
    if (sizeBytes + neededBytes > diskSpace.capacityBytes("work")) throw new IntakeError({ kind: "never_fits" });
    if (diskSpace.shortage(neededBytes, "intake") !== null) {
      throw new IntakeError({ kind: "no_space_to_process", neededBytes });
    }
  }

  /** Runs a probe. Probes run in order of arrival, few in parallel and fewer per account. */
  async #inTurn<T>(accountId: string, probe: () => Promise<T>): Promise<T> {
    const own = this.#probesByAccount.get(accountId) ?? new PQueue({ concurrency: MAX_PROBES_OF_ACCOUNT });
    this.#probesByAccount.set(accountId, own);
    // The shared queue holds at most MAX_PROBES_OF_ACCOUNT probes of an account.
    const probed = own.add(() => this.#probes.add(probe));
    void own.onIdle().then(() => {
      const isOver = own.size + own.pending === 0 && this.#probesByAccount.get(accountId) === own;
      if (isOver) this.#probesByAccount.delete(accountId);
    });
    return await probed;
  }
}

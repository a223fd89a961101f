import PQueue from "p-queue";
import type { Settings } from "../../config/index.ts";
import { estimateDecodedBytes, estimateResultBytes, MediaError, type probeRecording } from "../../media/index.ts";
import type { DiskSpace } from "../../storage/index.ts";
import { ApiError, invalidField, noDiskSpace } from "./errors.ts";
import type { ReceivedFile } from "./upload/index.ts";

export interface ExamineServices {
  /** Probes a stored file; see probeRecording. */
  readonly probe: (path: string) => ReturnType<typeof probeRecording>;
  readonly diskSpace: DiskSpace;
  readonly limits: () => Settings["limits"];
}

/**
 * Number of uploads probed in parallel. A probe takes milliseconds. For a hostile file it takes seconds and memory, up
 * to its limits.
 */
const MAX_PROBES = 4;
/** Number of parallel probes per account, so that hostile files of one account leave places to the others. */
const MAX_PROBES_OF_ACCOUNT = 2;

/** Checks that received files are recordings which this server can process. */
export class UploadExaminer {
  readonly #services: ExamineServices;
  readonly #probes = new PQueue({ concurrency: MAX_PROBES });
  readonly #probesByAccount = new Map<string, PQueue>();

  constructor(services: ExamineServices) {
    this.#services = services;
  }

  /**
   * Checks a file of an account, when it is the account's turn.
   * @throws 422 under `file` when it is not a recording or is too long
   * @throws 413 when the file and its decoded audio can never fit on the disk
   * @throws 503 when the machine is too busy to probe the file, or lacks the disk space to decode it now
   */
  async examine({ path, sizeBytes }: Pick<ReceivedFile, "path" | "sizeBytes">, accountId: string): Promise<void> {
    const { probe, diskSpace } = this.#services;
    const limits = this.#services.limits();
    const probed = await this.#inTurn(accountId, () => probe(path)).catch((error: unknown) => {
      // A faulty file reaches the CPU time limit before this wall-clock limit, and is refused for that.
      if (!(error instanceof MediaError) || error.fault !== "ffmpeg_timed_out") throw error;
      throw new ApiError("service_unavailable", "The server is too busy to probe the file now.", {
        headers: { "Retry-After": "60" },
      });
    });
    if (!probed.ok) throw invalidField("file", probed.reason);
    if (!probed.durationIsEstimate && (probed.durationSeconds ?? 0) > limits.recording_seconds) {
      throw invalidField("file", `The recording is longer than ${limits.recording_seconds / 3600} hours.`);
    }
    const soundBytes = estimateDecodedBytes(probed, sizeBytes, limits.recording_seconds);
    const workBytes = soundBytes + estimateResultBytes(soundBytes);
    if (sizeBytes + workBytes > diskSpace.capacityBytes("work")) {
      throw new ApiError("file_too_large", "The recording needs more disk space to process than this server has.");
    }
    if (diskSpace.shortage(workBytes, "intake") !== null) {
      throw noDiskSpace("There is no disk space to process this recording now.", workBytes);
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

import type { Reservation } from "../storage/index.ts";
import { size } from "../text/index.ts";
import { type DecodePlan, decodeRun, lineReader } from "./decode-plan.ts";
import { MediaError } from "./media-error.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm-format.ts";
import { runFfmpeg } from "./run-ffmpeg.ts";

/** The disk space for decoded audio, in bytes. */
export interface DecodeRoom {
  /** Size that an earlier attempt measured for this recording's decoded audio; null if no attempt had to measure it. */
  readonly measured: number | null;
  /** Stores the measured size for later attempts. */
  keepMeasured(bytes: number): void;
  /** Returns whether the disk could hold this many bytes if everything else were removed from it. */
  couldHold(bytes: number): boolean;
  /**
   * Reserves disk space before anything is written.
   * @throws {MachineError} when there is not enough free space now
   */
  claim(bytes: number): Pick<Reservation, "written">;
}

/** The disk space that a decode needs: the estimate from the header, or the measured size when it is known. */
export class NeededRoom {
  readonly #plan: DecodePlan;
  readonly #room: DecodeRoom;
  #bytes: number;

  /** @param estimate size according to the header, which may contain any value */
  constructor(plan: DecodePlan, room: DecodeRoom, estimate: number) {
    this.#plan = plan;
    this.#room = room;
    this.#bytes = room.measured ?? estimate;
  }

  /**
   * Reserves the disk space. If the estimate is more than the disk could ever hold, the decoded size is measured first.
   * @throws {MachineError} when there is not enough free space now
   * @throws {MediaError} `disk_full` when there can never be enough space
   */
  async claim(): Promise<Pick<Reservation, "written">> {
    if (!this.#room.couldHold(this.#bytes) && this.#room.measured === null) await this.#measure(0);
    if (!this.#room.couldHold(this.#bytes)) {
      throw new MediaError("disk_full", `its sound takes ${size(this.#bytes)}, more than the whole disk could hold`);
    }
    return this.#room.claim(this.#bytes);
  }

  /**
   * Measures the size that the decode really needs if it wrote more than was reserved and the disk space ran out.
   * Otherwise each retry would fill the disk again. Call it after the written files are removed.
   */
  async learn(written: number): Promise<void> {
    if (written > this.#bytes) await this.#measure(written);
  }

  async #measure(least: number): Promise<void> {
    const { outputs, maxSeconds } = this.#plan;
    const bytes = await measureSound(this.#plan);
    if (bytes > maxSeconds * PCM_SAMPLE_RATE_HZ * PCM_BYTES_PER_SAMPLE) {
      throw new MediaError("recording_too_long", `the recording is longer than ${maxSeconds} s`);
    }
    this.#bytes = Math.max(bytes * outputs.length, least);
    this.#room.keepMeasured(this.#bytes);
  }
}

/**
 * Decodes a recording and discards the result.
 * @returns the size of one output, in bytes
 */
async function measureSound(plan: DecodePlan): Promise<number> {
  let bytes = 0;
  const outputs = plan.outputs.slice(0, 1).map(({ filters }) => ({ path: null, filters }));
  await runFfmpeg({
    ...decodeRun({ ...plan, outputs }),
    // Each line describes one packet: its track, decoding and presentation time, duration and size.
    onStdout: lineReader((line) => {
      bytes += Number(/^0, *-?\d+, *-?\d+, *\d+, *(\d{1,9}),/.exec(line)?.[1] ?? 0);
    }),
  });
  return bytes;
}

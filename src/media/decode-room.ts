import type { RoomClaim } from "../storage/index.ts";
import { size } from "../text/index.ts";
import { type DecodePlan, decodeRun, lineReader } from "./decode-plan.ts";
import { MediaError } from "./media-error.ts";
import { PCM_BYTES_PER_SAMPLE, PCM_SAMPLE_RATE_HZ } from "./pcm-format.ts";
import { runFfmpeg } from "./run-ffmpeg.ts";

/** The room on the disk for what is decoded, in bytes. */
export interface DecodeRoom {
  /** What an earlier decode of this recording found its sound to take; null where none had to find out. */
  readonly measured: number | null;
  /** Keeps it for later tries. */
  keepMeasured(bytes: number): void;
  /** Whether the disk could hold so much if all else were gone from it. */
  couldHold(bytes: number): boolean;
  /** Promises room, before anything is written. @throws {MachineError} where there is none now */
  claim(bytes: number): Pick<RoomClaim, "written">;
}

/** What is known of the room that a decode takes: what its header tells, or better. */
export class NeededRoom {
  readonly #plan: DecodePlan;
  readonly #room: DecodeRoom;
  #bytes: number;

  /** @param estimate by the header, which may say anything */
  constructor(plan: DecodePlan, room: DecodeRoom, estimate: number) {
    this.#plan = plan;
    this.#room = room;
    this.#bytes = room.measured ?? estimate;
  }

  /**
   * Promises it. Of a recording that is said to be longer than the disk could ever hold, the sound is measured first.
   * @throws {MachineError} where there is no room now @throws {MediaError} `disk_full` where there never will be
   */
  async claim(): Promise<Pick<RoomClaim, "written">> {
    if (!this.#room.couldHold(this.#bytes) && this.#room.measured === null) await this.#measure(0);
    if (!this.#room.couldHold(this.#bytes)) {
      throw new MediaError("disk_full", `its sound takes ${size(this.#bytes)}, more than the whole disk could hold`);
    }
    return this.#room.claim(this.#bytes);
  }

  /**
   * Finds out what it really takes, where more was written than was foreseen and the disk did not do; else each try would fill
   * the disk again. Call it when what was written is gone.
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

/** Decodes a recording and throws away what comes out. @returns how many bytes that is for one output */
async function measureSound(plan: DecodePlan): Promise<number> {
  let bytes = 0;
  const outputs = plan.outputs.slice(0, 1).map(({ filters }) => ({ path: null, filters }));
  await runFfmpeg({
    ...decodeRun({ ...plan, outputs }),
    // A packet a line: its track, decoding and presentation time, duration and size.
    onStdout: lineReader((line) => {
      bytes += Number(/^0, *-?\d+, *-?\d+, *\d+, *(\d{1,9}),/.exec(line)?.[1] ?? 0);
    }),
  });
  return bytes;
}

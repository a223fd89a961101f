import { inputArguments } from "./ffmpeg-arguments.ts";
import { MediaError } from "./media-error.ts";
import { type InputFile, lineReader, runFfmpeg } from "./run-ffmpeg.ts";
import { LONGEST_GAP_SECONDS } from "./time-line.ts";

// Listing the 3.2 million packets of 18 hours of Opus takes 8 s of CPU time. The file is read once, and not decoded.
const LIMITS = { cpuSeconds: 30, timeoutSeconds: 120 };

/**
 * Returns the length of a track's sound according to its packets, without decoding them: their durations, and the gaps
 * between their time stamps that the time line fills; see timeLineFilters. Returns null if listing them takes too long.
 */
export async function listedSeconds(file: InputFile, trackIndex: number): Promise<number | null> {
  const length = new PacketLength();
  try {
    const { signalName } = await runFfmpeg({
      ...{ ...file, ...LIMITS },
      arguments: [
        ...["-loglevel", "error", "-copyts", ...inputArguments(file.inputPath), "-map", `0:a:${trackIndex}`],
        // Lines are written together, and not one by one.
        ...["-c", "copy", "-flush_packets", "0", "-f", "framecrc", "pipe:1"],
      ],
      onOutput: lineReader((line) => length.push(line)),
      ignoresFlood: true,
    });
    return signalName === null ? length.seconds : null;
  } catch (error) {
    if (error instanceof MediaError && error.fault === "ffmpeg_timed_out") return null;
    throw error;
  }
}

/** The length of the packets in ffmpeg's framecrc listing: the time base, then a packet per line. */
class PacketLength {
  #timeBase = 0;
  #units = 0;
  #nextTime: number | null = null;

  get seconds(): number {
    return this.#units * this.#timeBase;
  }

  push(line: string): void {
    const base = /^#tb 0: (\d{1,9})\/(\d{1,9})$/.exec(line);
    if (base !== null) this.#timeBase = Number(base[1]) / Number(base[2]);
    // The track, decoding and presentation time, and duration, in units of the time base.
    const packet = /^0, *-?\d+, *(-?\d{1,20}), *(\d{1,20}),/.exec(line);
    if (packet === null || this.#timeBase === 0) return;
    const most = LONGEST_GAP_SECONDS / this.#timeBase;
    const [time, duration] = [Number(packet[1]), Number(packet[2])];
    const gap = this.#nextTime === null ? 0 : time - this.#nextTime;
    this.#units += Math.min(duration, most) + (gap > 0 && gap <= most ? gap : 0);
    this.#nextTime = time + duration;
  }
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeRecording, PCM_SAMPLE_RATE_HZ } from "../../../media/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, ok, problem, skipped } from "../check.ts";
import { filesOf } from "../files-of.ts";

const rate = 44_100;

export const ffmpegDecode: Check = {
  id: "ffmpeg.decode",
  title: "Decoding",
  explanation:
    "A second of sound is decoded the way a recording is: confined, with limits on memory and time, to 16 kHz mono. It needs a place for temporary files, not the data directory.",
  heavy: true,
  async run(context) {
    const directory = await mkdtemp(join(tmpdir(), "transcribe-doctor-")).catch(() => null);
    if (directory === null) return skipped(`no temporary file can be made in ${tmpdir()}; set TMPDIR`);
    try {
      const inputPath = join(directory, "tone.wav");
      await writeFile(inputPath, toneFile());
      const { sampleCount } = await decodeRecording({
        ffmpegPath: filesOf(context).ffmpeg,
        inputPath,
        outputPath: join(directory, "tone.pcm"),
        maxSeconds: 10,
        signal: context.signal,
      });
      if (Math.abs(sampleCount - PCM_SAMPLE_RATE_HZ) > PCM_SAMPLE_RATE_HZ / 100) {
        return problem(`a second of sound came out as ${(sampleCount / PCM_SAMPLE_RATE_HZ).toFixed(2)} s`, { advice });
      }
      return ok("a second of sound came out as a second");
    } catch (error) {
      context.signal.throwIfAborted();
      return problem("a recording can't be decoded", { detail: [messageOf(error)], advice });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

const advice =
  "If ffmpeg.program is fine, the confinement stops it: look at memory limits of the service or container (it reserves up to 1 GiB of address space) and at ffmpeg.confinement.";

/** Returns one second of a 440 Hz tone as a WAV file: 16 bits, stereo. */
function toneFile(): Buffer {
  const dataBytes = rate * 4;
  const file = Buffer.alloc(44 + dataBytes);
  file.write("RIFF", 0);
  file.writeUInt32LE(36 + dataBytes, 4);
  file.write("WAVEfmt ", 8);
  for (const [offset, value] of [
    [16, 16],
    [24, rate],
    [28, rate * 4],
  ] as const)
    file.writeUInt32LE(value, offset);
  for (const [offset, value] of [
    [20, 1],
    [22, 2],
    [32, 4],
    [34, 16],
  ] as const)
    file.writeUInt16LE(value, offset);
  file.write("data", 36);
  file.writeUInt32LE(dataBytes, 40);
  for (let sample = 0; sample < rate; sample++) {
    const value = Math.round(8000 * Math.sin((2 * Math.PI * 440 * sample) / rate));
    file.writeInt16LE(value, 44 + sample * 4);
    file.writeInt16LE(value, 46 + sample * 4);
  }
  return file;
}

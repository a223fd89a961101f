import { join } from "node:path";
import { ffmpegPath, samplePath } from "../../../test/support/checkout.ts";

/** What the small recordings are made of; without these there are none. */
export const smallRecordingNeeds = [ffmpegPath, samplePath("sample.wav"), samplePath("jfk.mp3")];

const [sample, jfk] = [samplePath("sample.wav"), samplePath("jfk.mp3")];

/** ffmpeg's arguments for each, without the output. */
const made = {
  "speech.wav": ["-i", jfk],
  "dialogue.flac": ["-i", sample, "-t", "20"],
  /** One party of a call on each channel. */
  "call.wav": [
    ...["-i", jfk, "-i", sample, "-t", "16"],
    ...[
      "-filter_complex",
      "[0:a]aresample=16000,adelay=5000[a];[1:a]aresample=16000,atrim=6.5:11.5,asetpts=PTS-STARTPTS,apad=whole_dur=16[b];[a][b]join=inputs=2",
    ],
  ],
  "linked.mp3": ["-ss", "12", "-i", sample, "-t", "9"],
  /** Of several chunks. */
  "long.wav": [
    ...["-i", sample, "-i", jfk],
    ...["-filter_complex", "[0:a]aresample=16000[a];[1:a]aresample=16000[b];[a][b]concat=n=2:v=0:a=1", "-ac", "1"],
  ],
} as const;

export type SmallRecording = keyof typeof made;
export const smallRecordings = Object.keys(made) as SmallRecording[];

/** Writes five small recordings of different kinds, 70 s in all. */
export async function makeSmallRecordings(directory: string): Promise<void> {
  for (const [name, input] of Object.entries(made)) {
    const command = [ffmpegPath, "-v", "error", "-y", ...input, "-bitexact", join(directory, name)];
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
    if ((await child.exited) !== 0) throw new Error(`${name} can't be made`);
  }
}

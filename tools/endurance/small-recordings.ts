import { join } from "node:path";
import { mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { makeRecordingOfChunks } from "../../harness/sample-recordings.ts";

/** Files from which the small recordings are created. */
export const smallRecordingNeeds = [mediaToolPath, samplePath("sample.wav"), samplePath("jfk.mp3")];

const [sample, jfk] = [samplePath("sample.wav"), samplePath("jfk.mp3")];

/** ffmpeg's arguments for each recording, without the output. */
const made = {
  "speech.wav": ["-i", jfk],
  "dialogue.flac": ["-ss", "6.4", "-i", sample, "-t", "9"],
  /** One party of a call on each channel. */
  "call.wav": [
    ...["-i", jfk, "-ss", "5", "-i", jfk],
    ...[
      "-filter_complex",
      "[0:a]aresample=16000,atrim=0:4.8,apad=whole_dur=11[a];[1:a]aresample=16000,adelay=5000[b];[a][b]join=inputs=2",
    ],
  ],
  "linked.mp3": ["-ss", "2.8", "-i", jfk],
} as const;

const severalChunks = "chunks.wav";
export type SmallRecording = keyof typeof made | typeof severalChunks;
export const smallRecordings: readonly SmallRecording[] = [
  ...(Object.keys(made) as (keyof typeof made)[]),
  severalChunks,
];

/**
 * Creates five small recordings of different kinds, about a minute in total. @param chunks number of chunks of the
 * longest
 */
export async function makeSmallRecordings(directory: string, chunks = 3): Promise<void> {
  for (const [name, input] of Object.entries(made)) {
    const command = [mediaToolPath, "-v", "error", "-y", ...input, "-bitexact", join(directory, name)];
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
    if ((await child.exited) !== 0) throw new Error(`${name} cannot be created`);
  }
  await makeRecordingOfChunks(directory, chunks);
}

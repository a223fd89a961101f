import { join } from "node:path";
import { ffmpegPath, samplePath } from "../support/checkout.ts";

/** What the recording is made of; without these there is none. */
export const recordingOfChunksNeeds = [ffmpegPath, samplePath("sample.wav"), samplePath("jfk.mp3")];

/** Where something is said in the samples, in seconds. */
const said = [
  ["jfk.mp3", 0, 4.8],
  ["sample.wav", 12.3, 18.6],
  ["jfk.mp3", 5, 11],
] as const;
/** No chunk reaches over a silence of this length. */
const pauseSeconds = 2.6;

/**
 * Writes things that are said in the samples with pauses between, about 8 s for each of the chunks that they make: it can be
 * interrupted between any two of them, and is done in a third of the time that as many full chunks take.
 * @returns its path
 */
export async function makeRecordingOfChunks(directory: string, chunks = 3): Promise<string> {
  const parts = Array.from({ length: chunks }, (_, chunk) => said[chunk % said.length] ?? said[0]);
  const path = join(directory, "chunks.wav");
  const inputs = parts.flatMap(([name, from, to]) => ["-ss", String(from), "-to", String(to), "-i", samplePath(name)]);
  const each = parts.map(([, from, to], index) => {
    return `[${index}:a]aresample=16000,aformat=channel_layouts=mono,apad=whole_dur=${to - from + pauseSeconds}[p${index}]`;
  });
  const joined = `${parts.map((_, index) => `[p${index}]`).join("")}concat=n=${parts.length}:v=0:a=1`;
  const filter = [...each, joined].join(";");
  const command = [ffmpegPath, "-v", "error", "-y", ...inputs, "-filter_complex", filter, "-bitexact", path];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("the samples can't be put together");
  return path;
}

import { join } from "node:path";
import { ffmpegPath, samplePath } from "../support/checkout.ts";

/** What the long recording is made of; without these there is none. */
export const longRecordingNeeds = [ffmpegPath, samplePath("sample.wav"), samplePath("jfk.mp3")];

/**
 * Writes the samples one after the other, 71 s that make three chunks or more: long enough to be interrupted between two.
 * @returns its path
 */
export async function makeLongRecording(directory: string): Promise<string> {
  const path = join(directory, "long.wav");
  const sample = ["-i", samplePath("sample.wav")];
  const jfk = ["-i", samplePath("jfk.mp3")];
  const joined = "[0:a][1:a][2:a]concat=n=3:v=0:a=1";
  const input = [...sample, ...jfk, ...sample];
  const command = [
    ffmpegPath,
    "-v",
    "error",
    "-y",
    ...input,
    "-filter_complex",
    joined,
    "-ac",
    "1",
    "-ar",
    "16000",
    path,
  ];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("the samples can't be put together");
  return path;
}

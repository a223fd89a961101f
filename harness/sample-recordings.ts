import { join } from "node:path";
import { mediaToolPath, samplePath } from "./checkout.ts";

/** Files that the recordings of this module are made of. */
export const sampleRecordingNeeds = [mediaToolPath, samplePath("sample.wav"), samplePath("jfk.mp3")];

/** Spans of the samples that contain speech: file name, start and end in seconds. */
const speechSpans = [
  ["jfk.mp3", 0, 4.8],
  ["sample.wav", 12.3, 18.6],
  ["jfk.mp3", 5, 11],
] as const;
/** No chunk extends over a silence of this length. */
const pauseSeconds = 2.6;

/** Writes a recording in the form that a browser takes as the sound of its microphone. */
export async function writeMicrophoneSound(recording: string, path: string): Promise<void> {
  await runFfmpeg(["-i", recording, "-ac", "1", "-ar", "48000", "-c:a", "pcm_s16le", path]);
}

/**
 * Writes spans of speech with pauses between them. Each span becomes one chunk of about 8 s. Processing can be
 * interrupted between any two chunks, and takes a third of the time that full chunks would take.
 */
export async function makeRecordingOfChunks(directory: string, chunks = 3, name = "chunks.wav"): Promise<string> {
  const spans = Array.from({ length: chunks }, (_, chunk) => speechSpans[chunk % speechSpans.length] ?? speechSpans[0]);
  const inputs = spans.flatMap(([name, from, to]) => ["-ss", `${from}`, "-to", `${to}`, "-i", samplePath(name)]);
  const padded = spans.map(([, from, to], index) => {
    return `[${index}:a]aresample=16000,aformat=channel_layouts=mono,apad=whole_dur=${to - from + pauseSeconds}[p${index}]`;
  });
  const joined = `${spans.map((_, index) => `[p${index}]`).join("")}concat=n=${spans.length}:v=0:a=1`;
  const path = join(directory, name);
  await runFfmpeg([...inputs, "-filter_complex", [...padded, joined].join(";"), "-bitexact", path]);
  return path;
}

/**
 * Writes the samples one after the other: 71 s that make three chunks or more, long enough to be interrupted between
 * two.
 */
export async function makeLongRecording(directory: string): Promise<string> {
  const inputs = ["sample.wav", "jfk.mp3", "sample.wav"].flatMap((name) => ["-i", samplePath(name)]);
  const path = join(directory, "long.wav");
  const joined = "[0:a][1:a][2:a]concat=n=3:v=0:a=1";
  await runFfmpeg([...inputs, "-filter_complex", joined, "-ac", "1", "-ar", "16000", path]);
  return path;
}

/** Runs the complete ffmpeg, in a folder if one is given. @throws {Error} when it fails */
export async function runFfmpeg(options: readonly string[], folder?: string): Promise<void> {
  const command = [mediaToolPath, "-nostdin", "-v", "error", "-y", ...options];
  const child = Bun.spawn(command, { ...(folder && { cwd: folder }), stdio: ["ignore", "ignore", "inherit"] });
  if ((await child.exited) !== 0) throw new Error(`ffmpeg cannot make ${options.at(-1)}`);
}

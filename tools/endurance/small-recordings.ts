import { join } from "node:path";
import { mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { makeRecordingOfChunks, runFfmpeg } from "../../harness/sample-recordings.ts";

const [sample, jfk] = [samplePath("sample.wav"), samplePath("jfk.mp3")];

/** Files from which the small recordings are created. */
export const smallRecordingNeeds = [mediaToolPath, sample, jfk];

const onTwoChannels =
  "[0:a]aresample=16000,atrim=0:4.8,apad=whole_dur=11[a];[1:a]aresample=16000,adelay=5000[b];[a][b]join=inputs=2";

/** ffmpeg's arguments for each recording, without the output. */
const made = {
  "speech.wav": ["-i", jfk],
  "dialogue.flac": ["-ss", "6.4", "-i", sample, "-t", "9"],
  /** One party of a call on each channel. */
  "call.wav": ["-i", jfk, "-ss", "5", "-i", jfk, "-filter_complex", onTwoChannels],
  "linked.mp3": ["-ss", "2.8", "-i", jfk],
} as const;

const severalChunks = "chunks.wav";
export type SmallRecording = keyof typeof made | typeof severalChunks;
export const smallRecordings: readonly SmallRecording[] = [
  ...(Object.keys(made) as (keyof typeof made)[]),
  severalChunks,
];

/** Settings of a server that fetches recordings from the host below. */
export const FETCH_SETTINGS = { TRANSCRIBE_FETCH_ALLOW: "127.0.0.1/32" } as const;

/**
 * Creates five small recordings of different kinds, about a minute in total, and serves them to those who fetch links.
 * @param chunks number of chunks of the longest
 */
export async function hostSmallRecordings(directory: string, chunks: number) {
  for (const [name, input] of Object.entries(made)) await runFfmpeg([...input, "-bitexact", join(directory, name)]);
  await makeRecordingOfChunks(directory, chunks);
  const host = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: ({ url }) => new Response(Bun.file(join(directory, new URL(url).pathname.slice(1)))),
  });
  return { origin: `http://127.0.0.1:${host.port}`, [Symbol.asyncDispose]: () => host.stop(true) };
}

/** Returns the form that creates a recording: with its file, or with a link to it. */
export function formOf(name: SmallRecording, directory: string, origin: string): FormData {
  const form = new FormData();
  if (name === "linked.mp3") form.set("url", `${origin}/${name}`);
  else form.set("file", Bun.file(join(directory, name)), name);
  return form;
}

import { join } from "node:path";
import { mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { makeRecordingOfChunks, runFfmpeg } from "../../harness/sample-recordings.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

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
 * Creates and hosts small recordings of different kinds, about a minute in total.
 * @param chunks number of chunks of the longest
 * @returns a host of their files. Disposing of it removes both
 */
export async function hostSmallRecordings(names: readonly SmallRecording[], chunks: number) {
  const folder = temporaryDirectory();
  const pathOf = (name: string) => join(folder.path, name);
  for (const name of names) {
    if (name === severalChunks) await makeRecordingOfChunks(folder.path, chunks);
    else await runFfmpeg([...made[name], "-bitexact", pathOf(name)]);
  }
  const host = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(Bun.file(pathOf(new URL(url).pathname.slice(1)))),
  });
  return {
    /** Returns the form that creates a recording: with its file, or with a link to it. */
    formOf(name: SmallRecording) {
      const form = new FormData();
      if (name === "linked.mp3") form.set("url", `http://127.0.0.1:${host.port}/${name}`);
      else form.set("file", Bun.file(pathOf(name)), name);
      return form;
    },
    async [Symbol.asyncDispose]() {
      await host.stop(true);
      folder[Symbol.dispose]();
    },
  };
}

export type HostedRecordings = Awaited<ReturnType<typeof hostSmallRecordings>>;

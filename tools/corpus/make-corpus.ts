import { readdirSync, statSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { recordingsFolder, root, samplePath } from "../../harness/checkout.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { type Excerpt, mix } from "./audio.ts";
import { makeFormatFiles } from "./format-files.ts";
import { readManifest } from "./references.ts";

/** The folders of the repository's recordings that are copied into the corpus. */
const COPIED = ["manifest.json", "single", "dialogue", "formats"];

/** The sentences of the built dialogues: where each is, and the factor that gives all the same level. */
const utterancesSchema = Type.Record(
  Type.String(),
  Type.Object({ file: Type.String(), start: Type.Number(), end: Type.Number(), gain: Type.Number() }),
);
const turnsSchema = Type.Array(
  Type.Object({ sample: Type.Integer(), speaker: Type.String(), utterance: Type.String() }),
);

/** Returns a digest of everything that the corpus depends on. @param toolDigest SHA-256 of the ffmpeg that makes it */
export async function corpusDigest(toolDigest: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(toolDigest);
  const sources = ["audio.ts", "format-files.ts", "make-corpus.ts"].map((name) => join(import.meta.dir, name));
  const parts = [...COPIED, "utterances", "utterances.json"].map((name) => join(recordingsFolder, name));
  const recordings = parts.flatMap((part) =>
    statSync(part).isDirectory() ? readdirSync(part).map((name) => join(part, name)) : [part],
  );
  for (const path of [...sources, ...recordings.sort(), samplePath("sample.wav")]) {
    hash.update(path.slice(root.length)).update(await Bun.file(path).bytes());
  }
  return hash.digest("hex");
}

/**
 * Makes the corpus: the recordings of test/recordings, the dialogues that are built of them, one voice in each format,
 * and damaged files. The folder has the same format as other corpora that `--audio` names.
 */
export async function makeCorpus(folder: string): Promise<void> {
  for (const name of COPIED) await cp(join(recordingsFolder, name), join(folder, name), { recursive: true });
  const speech = join(folder, "single/en-jfk.flac");
  await makeFormatFiles(join(folder, "formats"), speech, join(folder, "single/de-fleurs-005.ogg"));
  await runFfmpeg(["-i", samplePath("sample.wav"), join(folder, "dialogue/pyannote-sample.flac")]);
  await cp(samplePath("sample.rttm"), join(folder, "dialogue/pyannote-sample.rttm"));
  const utterances = Value.Parse(utterancesSchema, await Bun.file(join(recordingsFolder, "utterances.json")).json());
  for (const { path, turns, duration_seconds: seconds } of await readManifest(folder)) {
    const target = join(folder, path);
    if (await Bun.file(target).exists()) continue;
    if (!turns) throw new Error(`test/recordings has neither ${path} nor a way to make it`);
    await buildDialogue({ turnsFile: join(folder, turns), utterances, target, seconds: seconds ?? 0 });
  }
}

interface DialoguePlan {
  readonly turnsFile: string;
  readonly utterances: Static<typeof utterancesSchema>;
  readonly target: string;
  readonly seconds: number;
}

/** Builds a dialogue of sentences. A `.wav` is a telephone call with a channel for each of its two speakers. */
async function buildDialogue({ turnsFile, utterances, target, seconds }: DialoguePlan): Promise<void> {
  const turns = Value.Parse(turnsSchema, await Bun.file(turnsFile).json());
  const excerptsOf = (speaker?: string): Excerpt[] =>
    turns
      .filter((turn) => speaker === undefined || turn.speaker === speaker)
      .map(({ sample, utterance }) => {
        const found = utterances[utterance];
        if (!found) throw new Error(`utterances.json has no ${utterance}`);
        const { file, start: startSeconds, end: endSeconds, gain } = found;
        return { file: join(recordingsFolder, file), startSeconds, endSeconds, atSeconds: sample / SAMPLE_RATE, gain };
      });
  if (extname(target) !== ".wav") {
    await mix(excerptsOf(), target, { output: extname(target) === ".mp3" ? ["-b:a", "48k"] : [], fadeSeconds: 0 });
    return;
  }
  const speakers = [...new Set(turns.map(({ speaker }) => speaker))];
  const channels = speakers.map((speaker) => ({ speaker, file: `${target}.${speaker}.wav` }));
  for (const { speaker, file } of channels) await mix(excerptsOf(speaker), file, { fadeSeconds: 0 });
  const padded = channels.map((_, index) => `[${index}:a]apad,atrim=0:${seconds}[c${index}]`);
  const joined = `${channels.map((_, index) => `[c${index}]`).join("")}amerge=inputs=${channels.length}[out]`;
  await runFfmpeg([
    ...channels.flatMap(({ file }) => ["-i", file]),
    ...["-filter_complex", [...padded, joined].join(";"), "-map", "[out]", "-ar", "8000", "-c:a", "pcm_mulaw", target],
  ]);
  for (const { file } of channels) await rm(file);
}

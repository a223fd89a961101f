import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { samplePath } from "../../harness/checkout.ts";
import { type NamedTurn, parseRttm } from "../../harness/rttm.ts";

export interface SpokenTurn extends NamedTurn {
  readonly text: string;
}

/**
 * The group in which a recording is measured. `dialogue`: built dialogues and the telephone sample; `meeting`: excerpts
 * of AMI; `other`: recordings with a known number of speakers but without turns; `exchange`: generated dialogues of short
 * turns; `room`: generated meetings in simulated rooms.
 */
export type Group = "single" | "dialogue" | "meeting" | "other" | "exchange" | "room";

export interface Reference {
  /** Path in the manifest: `single/en-jfk.flac`. */
  readonly path: string;
  readonly file: string;
  readonly group: Group;
  readonly durationSeconds: number;
  readonly language: string;
  readonly speakers: number;
  /** Transcript in order; null when it is unknown. */
  readonly text: string | null;
  /** Turns of the speakers; null when they are unknown. */
  readonly turns: readonly NamedTurn[] | null;
  /** Turns by the times of the words alone. */
  readonly wordTurns: readonly NamedTurn[] | null;
  /** Turns with their text; null when the text is unknown. */
  readonly spoken: readonly SpokenTurn[] | null;
  /** Whether turns start and end with their first and last word, within 0.05 s. */
  readonly exact: boolean;
}

const optional = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const manifestSchema = Type.Array(
  Type.Object({
    path: Type.String(),
    duration_seconds: optional(Type.Number()),
    language: optional(Type.String()),
    speakers: optional(Type.Integer()),
    transcript: optional(Type.String()),
    rttm: optional(Type.String()),
    words_rttm: optional(Type.String()),
    turns: optional(Type.String()),
    kind: optional(Type.String()),
    expect: optional(Type.String()),
  }),
);

const turnsSchema = Type.Array(
  Type.Object({
    start: Type.Optional(Type.Number()),
    end: Type.Optional(Type.Number()),
    speaker: Type.String(),
    text: optional(Type.String()),
  }),
);

/** Reads the recordings of single/ and dialogue/, in the manifest's order. */
export async function readCorpus(audio: string): Promise<Reference[]> {
  const ofSpeech = (await readManifest(audio)).filter(({ path }) => /^(single|dialogue)\//.test(path));
  return Promise.all(
    ofSpeech.map(async (entry): Promise<Reference> => {
      const rttm = async (path: string) => parseRttm(await Bun.file(join(audio, path)).text());
      const wordTurns = entry.words_rttm ? await rttm(entry.words_rttm) : null;
      const spoken = entry.turns ? await readTurns(join(audio, entry.turns)) : await readStm(entry.path);
      const turns = entry.rttm ? await rttm(entry.rttm) : null;
      return {
        path: entry.path,
        file: join(audio, entry.path),
        group: groupOf(entry.path, turns, wordTurns),
        durationSeconds: entry.duration_seconds ?? 0,
        language: entry.language ?? "",
        speakers: entry.speakers ?? 0,
        text: entry.transcript ?? textOf(spoken),
        ...{ turns, wordTurns },
        spoken,
        exact: entry.kind === "built",
      };
    }),
  );
}

/** Returns the recordings of formats/ that contain no speech. */
export async function recordingsWithoutSpeech(audio: string) {
  return (await readManifest(audio))
    .filter(({ expect }) => expect === "no_speech")
    .map(({ path, duration_seconds: seconds }) => ({ name: path, file: join(audio, path), seconds: seconds ?? 0 }));
}

export async function readManifest(audio: string) {
  return Value.Parse(manifestSchema, await Bun.file(join(audio, "manifest.json")).json());
}

function groupOf(path: string, turns: unknown, wordTurns: unknown): Group {
  if (path.startsWith("single/")) return "single";
  if (wordTurns !== null) return "meeting";
  return turns === null ? "other" : "dialogue";
}

/** Returns the transcript in order; null when the order is unknown because speakers talk at the same time. */
function textOf(spoken: readonly SpokenTurn[] | null): string | null {
  if (spoken === null || spoken.some(({ endSeconds }) => endSeconds === 0)) return null;
  return spoken.map(({ text }) => text).join(" ");
}

/** Reads turns with their text; returns null when a turn has no text. */
async function readTurns(path: string): Promise<SpokenTurn[] | null> {
  const turns = Value.Parse(turnsSchema, await Bun.file(path).json());
  if (turns.some(({ text }) => !text)) return null;
  return turns.map(({ start = 0, end = 0, speaker, text }) => {
    return { startSeconds: start, endSeconds: end, speaker, text: text ?? "" };
  });
}

/**
 * Reads the transcript of the telephone sample, which its package contains: speaker, start, end and words from the
 * third field on.
 */
async function readStm(path: string): Promise<SpokenTurn[] | null> {
  const stm = samplePath("sample.stm");
  if (!basename(path).startsWith("pyannote-sample.") || !existsSync(stm)) return null;
  return (await Bun.file(stm).text()).split("\n").flatMap((line) => {
    const [, , speaker, start, end, ...words] = line.trim().split(/\s+/);
    if (speaker === undefined) return [];
    return [{ startSeconds: Number(start), endSeconds: Number(end), speaker, text: words.join(" ") }];
  });
}

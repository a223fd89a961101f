import { join } from "node:path";
import { randomNumbers } from "../../../harness/random-numbers.ts";
import { runFfmpeg } from "../../../harness/sample-recordings.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { type Reference, readCorpus, samplesOf } from "../../corpus/index.ts";
import { total } from "../../shared/figures.ts";
import type { Piece } from "./spoken-words.ts";

/** Sound of one session: pieces in a row, with a pause after each. */
export interface Track {
  readonly pieces: readonly Piece[];
  readonly samples: Int16Array;
  /** Path of the same sound, for an upload. */
  readonly file: string;
}

/** Sound without speech: white noise with a root mean square, as a fraction of full scale. */
interface Quiet {
  readonly kind: string;
  readonly seconds: number;
  readonly level: number;
}

/** Recordings of the corpus by their paths. */
interface Spoken {
  readonly kind: string;
  readonly paths: readonly string[];
  /** Level of white noise under the speech, relative to it. */
  readonly noise?: number;
}

/** Noise of 10 dB less than the speech. */
const NOISE = 10 ** (-10 / 20);
const PAUSE_SECONDS = 0.8;
/** Noise of a quiet room, and of a fan. */
const [QUIET_ROOM, FAN] = [0.0003, 0.02];

/** More than six minutes together. */
const plans: readonly (readonly (Quiet | Spoken)[])[] = [
  [
    { kind: "reading", paths: ["single/en-libri-1688-142285-0001.flac", "single/en-libri-2414-128291-0005.flac"] },
    { kind: "free speech", paths: ["single/en-mfa-acoustic.opus"] },
    { kind: "silence", seconds: 20, level: QUIET_ROOM },
    { kind: "meeting", paths: ["dialogue/ami-EN2001e-first30s.flac"] },
    { kind: "dialogue", paths: ["dialogue/dlg-01-2spk-FM.flac"] },
    { kind: "noise", seconds: 15, level: FAN },
  ],
  [
    {
      kind: "reading in noise",
      paths: ["single/en-libri-2412-153948-0000.flac", "single/en-fleurs-006.ogg", "single/en-fleurs-009.ogg"],
      noise: NOISE,
    },
    { kind: "dialogue", paths: ["dialogue/dlg-09-2spk-short-turns.flac"] },
    { kind: "noise", seconds: 15, level: FAN },
    { kind: "telephone", paths: ["dialogue/pyannote-sample.flac"] },
    { kind: "silence", seconds: 30, level: 0 },
    { kind: "meeting", paths: ["dialogue/ami-EN2005a-first30s.flac"] },
  ],
];

/** Continuous speech, which sessions play while a recording is processed. */
const talk: readonly Spoken[] = [
  { kind: "dialogue", paths: ["dialogue/dlg-02-2spk-MM.flac"] },
  { kind: "dialogue", paths: ["dialogue/dlg-04-3spk.flac"] },
];

/** Makes all tracks of the corpus. @param folder for their files @throws {Error} when the corpus lacks a recording */
export async function makeTracks(audio: string, folder: string) {
  const corpus = await readCorpus(audio);
  const make = (plan: (typeof plans)[number], name: string) => makeTrack(plan, corpus, join(folder, `${name}.flac`));
  return {
    tracks: await Promise.all(plans.map((plan, index) => make(plan, `track-${index + 1}`))),
    talk: await make(talk, "talk"),
  };
}

async function makeTrack(
  plan: readonly (Quiet | Spoken)[],
  corpus: readonly Reference[],
  file: string,
): Promise<Track> {
  const random = randomNumbers(1);
  const sounds: Float32Array[] = [];
  const pieces: Piece[] = [];
  const secondsSoFar = () => total(sounds, ({ length }) => length) / SAMPLE_RATE;
  for (const part of plan) {
    const { kind } = part;
    const startSeconds = secondsSoFar();
    if ("seconds" in part) {
      sounds.push(noise(part.seconds, part.level, random));
      pieces.push({ kind, startSeconds, endSeconds: secondsSoFar(), text: "" });
    } else {
      const references = part.paths.map((path) => requireReference(corpus, path));
      for (const reference of references) {
        const speech = await samplesOf(reference.file);
        sounds.push(part.noise === undefined ? speech : inNoise(speech, part.noise, random), pause());
      }
      const texts = references.map(({ text }) => text);
      const text = texts.some((one) => one === null) ? null : texts.join(" ");
      pieces.push({ kind, startSeconds, endSeconds: secondsSoFar(), text });
    }
  }
  const samples = toPcm(sounds);
  await writeRecording(samples, file);
  return { pieces, samples, file };
}

/** Returns the beginning of a track: the pieces that end within a time. */
export function beginningOf({ pieces, samples, file }: Track, seconds: number): Track {
  const fitting = pieces.filter(({ endSeconds }) => endSeconds <= seconds);
  const end = fitting.at(-1)?.endSeconds ?? 0;
  return { pieces: fitting, samples: samples.subarray(0, Math.round(end * SAMPLE_RATE)), file };
}

function requireReference(corpus: readonly Reference[], path: string): Reference {
  const found = corpus.find((reference) => reference.path === path);
  if (found === undefined) throw new Error(`the corpus has no ${path}`);
  return found;
}

function pause(): Float32Array {
  return new Float32Array(Math.round(PAUSE_SECONDS * SAMPLE_RATE));
}

/** Returns white noise. Equally distributed samples up to `level * √3` have the root mean square `level`. */
function noise(seconds: number, level: number, random: () => number): Float32Array {
  return Float32Array.from(
    { length: Math.round(seconds * SAMPLE_RATE) },
    () => level * Math.sqrt(3) * (2 * random() - 1),
  );
}

function inNoise(speech: Float32Array, relative: number, random: () => number): Float32Array {
  const level = relative * Math.sqrt(total([...speech], (sample) => sample ** 2) / speech.length);
  const added = noise(speech.length / SAMPLE_RATE, level, random);
  return speech.map((sample, index) => sample + (added[index] ?? 0));
}

function toPcm(sounds: readonly Float32Array[]): Int16Array {
  const samples = new Int16Array(total(sounds, ({ length }) => length));
  let at = 0;
  for (const sound of sounds) {
    for (const sample of sound) samples[at++] = Math.round(32_767 * Math.max(-1, Math.min(1, sample)));
  }
  return samples;
}

async function writeRecording(samples: Int16Array, file: string): Promise<void> {
  const raw = `${file}.pcm`;
  await Bun.write(raw, samples);
  await runFfmpeg(["-f", "s16le", "-ar", String(SAMPLE_RATE), "-ac", "1", "-i", raw, file]);
}

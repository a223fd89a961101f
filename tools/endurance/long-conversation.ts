import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { audioDirectory, decode } from "../../harness/diarized-recording.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { wavHeader } from "../../src/media/index.ts";
import { type EngineWord, SAMPLE_RATE } from "../../src/timeline/index.ts";

const dialogues = ["01-2spk-FM", "02-2spk-MM", "03-2spk-FF", "04-3spk", "05-3spk-FFF", "06-4spk", "07-4spk", "08-6spk"]
  .concat(["09-2spk-short-turns", "10-3spk-overlap", "13-8spk-no-text"])
  .map((name) => join(audioDirectory, "dialogue", `dlg-${name}`));

const turnsSchema = Type.Array(
  Type.Object({
    start: Type.Number(),
    end: Type.Number(),
    speaker: Type.String(),
    text: Type.Union([Type.String(), Type.Null()]),
  }),
);

/** Length of the gap between two dialogues: silence, faint noise or clear noise. */
const gapSeconds = [1, 30] as const;
const noiseLevels = [0, 30, 300];

/**
 * Concatenates dialogues in a random order and loudness, with silence and noise between them. Needs the recordings
 * outside the repository.
 * @returns the path, and the references: turns in order, in which a speaker has the same name in the whole recording, and
 * words, spread evenly over each turn
 */
export async function makeLongConversation(path: string, seconds: number, random: () => number) {
  const sources = await readDialogues();
  const wanted = Math.round(seconds * SAMPLE_RATE);
  const turns: NamedTurn[] = [];
  const words: EngineWord[] = [];
  const file = openSync(path, "w", 0o600);
  try {
    writeSync(file, wavHeader(wanted * 2));
    let written = 0;
    const write = (samples: Int16Array) => {
      const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      written += samples.length;
    };
    let order: Dialogue[] = [];
    while (written < wanted) {
      if (order.length === 0)
        order = sources
          .map((one) => ({ one, lot: random() }))
          .sort((a, b) => a.lot - b.lot)
          .map(({ one }) => one);
      const source = order.pop();
      const loudness = 0.4 + 0.6 * random();
      const remaining = wanted - written;
      if (source !== undefined && source.samples.length <= remaining) {
        const from = written / SAMPLE_RATE;
        for (const turn of source.turns) turns.push(shifted(turn, from));
        for (const word of source.words) words.push(shifted(word, from));
        write(source.samples.map((sample) => sample * loudness));
      }
      const level = noiseLevels[Math.floor(random() * noiseLevels.length)] ?? 0;
      const gap = Math.round((gapSeconds[0] + random() * (gapSeconds[1] - gapSeconds[0])) * SAMPLE_RATE);
      write(Int16Array.from({ length: Math.min(gap, wanted - written) }, () => (random() - 0.5) * 2 * level));
    }
  } finally {
    closeSync(file);
  }
  turns.sort((a, b) => a.startSeconds - b.startSeconds);
  words.sort((a, b) => a.startSeconds - b.startSeconds);
  return { path, seconds, turns, words };
}

export type LongConversation = Awaited<ReturnType<typeof makeLongConversation>>;

interface Dialogue {
  readonly samples: Int16Array;
  readonly turns: readonly NamedTurn[];
  readonly words: readonly EngineWord[];
}

async function readDialogues(): Promise<Dialogue[]> {
  using folder = temporaryDirectory();
  const found: Dialogue[] = [];
  for (const path of dialogues) {
    const pcm = await decode(`${path}.flac`, join(folder.path, "dialogue.pcm"));
    const samples = new Int16Array(await Bun.file(pcm.path).arrayBuffer());
    const listed: unknown = await Bun.file(`${path}.turns.json`).json();
    if (!Value.Check(turnsSchema, listed)) throw new Error(`${path}.turns.json contains no list of turns`);
    const turns = listed.map(({ start, end, speaker }) => ({ startSeconds: start, endSeconds: end, speaker }));
    found.push({ samples, turns, words: listed.flatMap(wordsOf) });
  }
  return found;
}

function wordsOf({ start, end, text }: { start: number; end: number; text: string | null }): EngineWord[] {
  const written = (text ?? "").split(" ").filter((word) => word !== "");
  const count = Math.max(1, Math.round((end - start) * 2.5));
  const words = written.length > 0 ? written : Array.from({ length: count }, () => "word");
  const each = (end - start) / words.length;
  return words.map((word, index) => ({
    text: ` ${word}${index === words.length - 1 ? "." : ""}`,
    startSeconds: start + index * each,
    endSeconds: start + (index + 1) * each,
    probability: 0.9,
  }));
}

function shifted<T extends { readonly startSeconds: number; readonly endSeconds: number }>(one: T, seconds: number): T {
  return { ...one, startSeconds: one.startSeconds + seconds, endSeconds: one.endSeconds + seconds };
}

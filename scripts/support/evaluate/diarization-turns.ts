import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { decode, diarize, openModels } from "../../../test/speech/diarization/recording.ts";
import type { Reference } from "./corpus.ts";
import type { FoundSpeakers } from "./measure-speakers.ts";

/** Who was found to speak when, and what that took. */
export interface Diarized extends FoundSpeakers {
  /** The recording's length. */
  readonly seconds: number;
  readonly milliseconds: { readonly detect: number; readonly embed: number; readonly cluster: number };
}

/** Who speaks when by the diarization alone, before words have a say: all its steps, in this process, on one channel. */
export async function diarizationTurns(references: readonly Reference[]): Promise<Diarized[]> {
  if (references.length === 0) return [];
  const models = await openModels();
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  const all: Diarized[] = [];
  try {
    for (const reference of references) {
      const pcm = await decode(reference.file, join(directory, "pcm"));
      const { turns, milliseconds } = await diarize(models, pcm);
      const named = turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) }));
      all.push({ reference, turns: named, seconds: pcm.sampleCount / SAMPLE_RATE, milliseconds });
    }
  } finally {
    await rm(directory, { recursive: true });
    await models.dispose();
  }
  return all;
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode, diarize, openModels } from "../../../test/engine/diarization/recording.ts";
import type { Reference } from "./corpus.ts";
import type { FoundSpeakers } from "./measure-speakers.ts";

/** Who speaks when by the diarization alone, before words have a say: all its steps, in this process, on one channel. */
export async function diarizationTurns(references: readonly Reference[]): Promise<FoundSpeakers[]> {
  if (references.length === 0) return [];
  const models = await openModels();
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  const all: FoundSpeakers[] = [];
  try {
    for (const reference of references) {
      const { turns } = await diarize(models, await decode(reference.file, join(directory, "pcm")));
      all.push({ reference, turns: turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) })) });
    }
  } finally {
    await rm(directory, { recursive: true });
    await models.dispose();
  }
  return all;
}

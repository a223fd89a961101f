import { expect } from "bun:test";
import { join } from "node:path";
import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../../harness/der.ts";
import { audioDirectory, diarize } from "../../../harness/diarized-recording.ts";
import { parseRttm } from "../../../harness/rttm.ts";
import type { Turn } from "../../../src/timeline/index.ts";
import { openedModels } from "../../support/diarization-models.ts";

/** Built dialogues of the corpus with their speaker counts. */
export const dialogues: Readonly<Record<string, number>> = {
  "dlg-01-2spk-FM.flac": 2,
  "dlg-02-2spk-MM.flac": 2,
  "dlg-03-2spk-FF.flac": 2,
  "dlg-04-3spk.flac": 3,
  "dlg-05-3spk-FFF.flac": 3,
  "dlg-06-4spk.flac": 4,
  "dlg-07-4spk.flac": 4,
  "dlg-08-6spk.flac": 6,
  "dlg-09-2spk-short-turns.flac": 2,
  "dlg-10-3spk-overlap.flac": 3,
  "dlg-11-2spk-stereo-call.wav": 2,
  "dlg-12-6spk-mp3.mp3": 6,
  "dlg-13-8spk-no-text.opus": 8,
};

export const speakersOf = (turns: readonly Turn[]): number => new Set(turns.map((turn) => turn.speaker)).size;

/** Returns the errors of turns against a reference. */
export async function errorsAgainst(rttm: string, turns: readonly Turn[]): Promise<DiarizationErrors> {
  const reference = parseRttm(await Bun.file(rttm).text());
  return diarizationErrors(
    reference,
    turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) })),
  );
}

/** Opens the models for the tests of a file, and returns a function that diarizes a recording. */
export function startDiarization() {
  const { opened, decode } = openedModels();
  return async (path: string) => diarize(opened(), await decode(path));
}

type Diarize = ReturnType<typeof startDiarization>;

/** Expects one speaker in each recording of single/. */
export async function expectOneSpeakerEach(diarizeFile: Diarize, names: readonly string[]): Promise<void> {
  const wrong: string[] = [];
  for (const name of names) {
    const { chunks, turns } = await diarizeFile(join(audioDirectory, "single", name));
    if (chunks.length === 0 || speakersOf(turns) !== 1) wrong.push(`${name}: ${speakersOf(turns)}`);
  }
  expect(wrong).toEqual([]);
}

/** Expects the right speaker count of each built dialogue, and few errors in all. */
export async function expectDialogues(diarizeFile: Diarize, names: readonly string[]): Promise<void> {
  const counts: Record<string, number> = {};
  const errors = [];
  for (const name of names) {
    const path = join(audioDirectory, "dialogue", name);
    const { turns } = await diarizeFile(path);
    counts[name] = speakersOf(turns);
    errors.push(await errorsAgainst(path.replace(/\.\w+$/, ".rttm"), turns));
  }
  expect(counts).toEqual(Object.fromEntries(names.map((name) => [name, dialogues[name] ?? 0])));
  const rates = errorRates(addErrors(errors));
  expect(rates.errorRate).toBeLessThan(0.076);
  expect(rates.confusion).toBeLessThan(0.008);
}

/** Largest rates of errors, against the reference of a person and against the times of the words. */
export interface MeetingBounds {
  readonly errorRate: number;
  readonly confusion: number;
  readonly againstWords: number;
}

/** Expects few errors in meetings. */
export async function expectMeetings(
  diarizeFile: Diarize,
  names: readonly string[],
  bounds: MeetingBounds,
): Promise<void> {
  const errors: DiarizationErrors[] = [];
  const wordErrors: DiarizationErrors[] = [];
  for (const name of names) {
    const path = join(audioDirectory, "dialogue", name);
    const { turns } = await diarizeFile(path);
    errors.push(await errorsAgainst(path.replace(".flac", ".rttm"), turns));
    wordErrors.push(await errorsAgainst(path.replace(".flac", ".words.rttm"), turns));
  }
  const rates = errorRates(addErrors(errors));
  expect(rates.errorRate).toBeLessThan(bounds.errorRate);
  expect(rates.confusion).toBeLessThan(bounds.confusion);
  expect(errorRates(addErrors(wordErrors)).errorRate).toBeLessThan(bounds.againstWords);
}

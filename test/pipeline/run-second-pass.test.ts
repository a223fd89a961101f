import { afterAll, expect, test } from "bun:test";
import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { tables } from "../../src/database/index.ts";
import type { OperationName, Params } from "../../src/operations/index.ts";
import { assignSpeakers } from "../../src/pipeline/assign-speakers.ts";
import { fragmentsOf, runSecondPass } from "../../src/pipeline/second-pass.ts";
import type { TrackContext } from "../../src/pipeline/tracks.ts";
import { speakersByVoice, writeSentenceVoices } from "../../src/speech/diarization/index.ts";
import type { Span } from "../../src/timeline/index.ts";
import { turn } from "../support/spans.ts";
import { stepContext, storedRecording } from "./step-context.ts";
import { wordsFrom } from "./words.ts";

/** Returns an engine that recognizes Anna up to the hundredth second and then Ben, and fails after this many calls. */
function engineHearing(calls = Number.POSITIVE_INFINITY) {
  const heard: Span[][] = [];
  const run = async <N extends OperationName>(operation: N, params: Params<N>) => {
    if (operation === "compareSentences") {
      const { area, sentences } = params as Params<"compareSentences">;
      return { owners: await speakersByVoice(area, sentences) };
    }
    if (operation !== "embedSentences" || heard.length >= calls) throw new Error(`no more ${operation}`);
    const { area, block, spans } = params as Params<"embedSentences">;
    heard.push(spans);
    const voices = spans.map(({ startSeconds }) => Float32Array.from(startSeconds < 100 ? [1, 0] : [0, 1]));
    await writeSentenceVoices(area, block, voices);
    return {};
  };
  return { heard, engine: { run, partsAtOnce: 1 } as unknown as TrackContext["engine"] };
}

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

function context() {
  const stored = storedRecording();
  const fractions: (number | null)[] = [];
  const progress = (fraction: number | null) => void fractions.push(fraction);
  const made = stepContext(stored, undefined, { directory: directory.path, progress });
  made.files.prepareWork();
  const area = { directory: made.files.work, pcm: { path: "unused", sampleCount: 3_200_000 } };
  return { ...made, store: stored.store, fractions, area };
}

/** Forty sentences, one every five seconds. The turns assign the one at 50 s to Ben. */
const words = Array.from({ length: 40 }, (_, index) => wordsFrom(index * 5, "That is what they said.", 0.4)).flat();
const turns = [turn(0, 49, 0), turn(49.8, 52.2, 1), turn(54, 99, 0), turn(99.5, 200, 1)];
const said = fragmentsOf(assignSpeakers(words, turns));

test("a sentence with another speaker's voice is reassigned, and an interrupted pass resumes at its checkpoint", async () => {
  const made = context();
  const first = engineHearing(1);
  await expect(runSecondPass({ ...made, engine: first.engine }, said, turns)).rejects.toThrow("no more embedSentences");
  const second = engineHearing();
  const { turns: corrected, compared } = await runSecondPass({ ...made, engine: second.engine }, said, turns);
  expect(corrected).toEqual([...turns.slice(0, 1), turn(49.8, 52.2, 0), ...turns.slice(2)]);
  expect(compared.find(({ startSeconds }) => startSeconds === 50)).toMatchObject({
    speaker: 0,
    margin: expect.any(Number),
  });
  expect(second.heard.flat()).not.toContainEqual(first.heard[0]?.[0]);
  expect(made.fractions.at(-1)).toBe(1);
  expect(made.fractions.toSorted((a, b) => Number(a) - Number(b))).toEqual(made.fractions);
});

test.each([
  ["deleted", (file: string) => rmSync(file)],
  ["cut short", (file: string) => truncateSync(file, 20)],
])("only voice embeddings whose file was %s are computed again", async (_, harm) => {
  const made = context();
  const first = engineHearing();
  const corrected = await runSecondPass({ ...made, engine: first.engine }, said, turns);
  harm(join(made.files.work, "sentences", "000001.block"));
  const second = engineHearing();
  expect(await runSecondPass({ ...made, engine: second.engine }, said, turns)).toEqual(corrected);
  expect(second.heard).toEqual(first.heard.slice(1, 2));
});

test("voice embeddings of other words are not reused", async () => {
  const made = context();
  await runSecondPass({ ...made, engine: engineHearing().engine }, said, turns);
  const again = engineHearing();
  const shorter = said.slice(1);
  const once = await runSecondPass({ ...made, engine: again.engine }, shorter, turns);
  expect(again.heard.length).toBeGreaterThan(0);
  expect(once).toEqual(await runSecondPass({ ...context(), engine: engineHearing().engine }, shorter, turns));
});

test("voice embeddings are stored only in the work directory, never in the database or its backups", async () => {
  const made = context();
  await runSecondPass({ ...made, engine: engineHearing().engine }, said, turns);
  const rows = made.store.select().from(tables.checkpoints).all();
  expect(rows.length).toBeGreaterThan(1);
  for (const { step, payload } of rows) {
    expect([step, Object.keys(JSON.parse(payload))]).toEqual(["sentences", ["spans"]]);
  }
  const files = await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: made.files.work }));
  expect(files.toSorted()).toEqual(rows.map(({ part }) => `sentences/${String(part).padStart(6, "0")}.block`));
});

test("a recording with one speaker has no second pass", async () => {
  const { heard, engine } = engineHearing();
  const alone = [turn(0, 200)];
  const fragments = fragmentsOf(assignSpeakers(words, alone));
  expect(await runSecondPass({ ...context(), engine }, fragments, alone)).toEqual({ turns: alone, compared: [] });
  expect(heard).toEqual([]);
});

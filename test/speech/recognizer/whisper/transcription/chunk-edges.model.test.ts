import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openModels } from "../../../../../harness/diarized-recording.ts";
import { detectBlock, PcmReader, packChunks, speechRegions } from "../../../../../src/speech/diarization/index.ts";
import { transcribeChunk } from "../../../../../src/speech/recognizer/whisper/transcription/transcribe-chunk.ts";
import { blockCount } from "../../../../../src/timeline/index.ts";
import { englishWordErrors } from "../../../../support/english-words.ts";
import { canTranscribe, openBase, readSamples, threads } from "../support.ts";

setDefaultTimeout(240_000);

/** Read without a fault by base, each alone. */
const clips: Record<string, string> = {
  "single/en-jfk.flac":
    "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.",
  // Far quieter than the others.
  "single/en-fleurs-004.ogg": "Many people don't think about them as dinosaurs because they have feathers and can fly.",
  "single/en-fleurs-005.ogg":
    "The hospital has followed protocol for infection control, including separating the patient from others to prevent possible infection of others.",
  "single/en-fleurs-007.ogg":
    "20th century research has shown that there are two pools of genetic variation, hidden and expressed.",
  "single/en-fleurs-009.ogg":
    "As light pollution in their heyday was not the kind of problem it is today, they are usually located in cities or at campuses easier to reach than those built in modern times.",
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "edges-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** From the first loud sample to the last. */
function withoutSilence(samples: Float32Array): Float32Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isLoud = (sample: number) => Math.abs(sample) > 0.05 * loudest;
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

async function joinedPcm(names: readonly string[]) {
  const parts = await Promise.all(names.map(async (clip) => withoutSilence(await readSamples(clip))));
  const values = parts.flatMap((part) => Array.from(part, (sample) => Math.round(sample * 32_767)));
  const path = join(directory, "pcm");
  await Bun.write(path, Int16Array.from(values));
  return { path, sampleCount: values.length };
}

/** Errors in what is written for the clips, end to end, against what is said in them. */
async function errorsOf(names: readonly string[]) {
  const pcm = await joinedPcm(names);
  const area = { directory, pcm };
  await using reader = await PcmReader.open(pcm);
  const models = await openModels();
  const state = openBase().createState();
  try {
    for (let block = 0; block < blockCount(pcm.sampleCount); block++) await detectBlock(models, area, block);
    const chunks = packChunks(await speechRegions(area), pcm.sampleCount / 16_000);
    let text = "";
    for (const { startSeconds, endSeconds } of chunks) {
      const first = Math.floor(startSeconds * 16_000);
      const samples = await reader.read(first, Math.ceil(endSeconds * 16_000) - first);
      const utterances = await transcribeChunk(state, samples, { language: "en", threads });
      text += utterances.flatMap(({ words }) => words.map((word) => word.text)).join("");
    }
    return { chunks, ...englishWordErrors(names.map((name) => clips[name]).join(" "), text) };
  } finally {
    state.dispose();
    await models.dispose();
  }
}

const all = Object.keys(clips);

describe.skipIf(!canTranscribe("words at the edges of chunks", ...all))("speech without a pause", () => {
  test("speech longer than a chunk loses and repeats no word at a cut, nor a sentence far quieter than its neighbours", async () => {
    const { chunks, deletions, insertions, substitutions } = await errorsOf(all);
    expect(chunks.length).toBeGreaterThan(1);
    expect(deletions + insertions).toBeLessThanOrEqual(1);
    expect(substitutions).toBeLessThanOrEqual(2);
  });
});

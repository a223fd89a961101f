import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { packChunks, readPcm } from "../../../../../src/speech/diarization/index.ts";
import { transcribeChunk } from "../../../../../src/speech/recognizer/whisper/transcription/transcribe-chunk.ts";
import { loudPart, openedModels } from "../../../../support/diarization-models.ts";
import { englishWordErrors } from "../../../../support/english-words.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../../support/whisper.ts";

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

const all = Object.keys(clips);

describe.skipIf(!canTranscribe("words at the edges of chunks", ...all))("speech without a pause", () => {
  const { regionsOf, write } = openedModels();

  test("speech longer than a chunk loses and repeats no word at a cut, nor a sentence far quieter than its neighbours", async () => {
    const pcm = await write(...(await Promise.all(all.map(async (clip) => loudPart(await readSamples(clip))))));
    const chunks = packChunks(await regionsOf(pcm), pcm.sampleCount / 16_000);
    expect(chunks.length).toBeGreaterThan(1);
    const state = openBase().createState();
    let text = "";
    for (const { startSeconds, endSeconds } of chunks) {
      const first = Math.floor(startSeconds * 16_000);
      const samples = await readPcm(pcm, first, Math.ceil(endSeconds * 16_000) - first);
      const utterances = await transcribeChunk(state, samples, { language: "en", threads });
      text += utterances.flatMap(({ words }) => words.map((word) => word.text)).join("");
    }
    state.dispose();
    const { deletions, insertions, substitutions } = englishWordErrors(Object.values(clips).join(" "), text);
    expect(deletions + insertions).toBeLessThanOrEqual(1);
    expect(substitutions).toBeLessThanOrEqual(2);
  });
});

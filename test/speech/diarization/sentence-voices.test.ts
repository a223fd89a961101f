import { describe, expect, test } from "bun:test";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import {
  type SpokenSentence,
  speakersByVoice,
  writeSentenceVoices,
} from "../../../src/speech/diarization/sentence-voices.ts";

/** Returns a voice with these similarities to Anna's and Ben's voices. */
const voice = (anna: number, ben: number) =>
  Float32Array.of(anna, ben, Math.sqrt(Math.max(0, 1 - anna * anna - ben * ben)));
const anna = voice(1, 0);
const ben = voice(0, 1);

const speakersOf = (owners: Awaited<ReturnType<typeof speakersByVoice>>) => owners.map(({ speaker }) => speaker);

/** Returns the owners of sentences by their voices. @param perBlock number of voices that each block stores */
async function compared(sentences: readonly SpokenSentence[], voices: readonly Float32Array[], perBlock: number) {
  using directory = temporaryDirectory();
  const area = { directory: directory.path, pcm: { path: "/", sampleCount: 0 } };
  for (let from = 0; from < voices.length; from += perBlock) {
    await writeSentenceVoices(area, from / perBlock, voices.slice(from, from + perBlock));
  }
  return await speakersByVoice(area, sentences);
}

describe("a sentence with an embedding of its own", () => {
  const sentences = [
    { speaker: 0, seconds: 2.5 },
    { speaker: 1, seconds: 2.5 },
    { speaker: 0, seconds: 1.5 },
    { speaker: 0, seconds: 2.5 },
  ];

  test("is assigned to the speaker whose voice it clearly matches, in every block", async () => {
    for (const perBlock of [1, 2, 3, 4]) {
      const owners = await compared(sentences, [anna, ben, voice(0.1, 0.7), anna], perBlock);
      expect(speakersOf(owners)).toEqual([0, 1, 1, 0]);
    }
  });

  const unclear: [string, Float32Array[]][] = [
    ["its voice is its speaker's", [anna, ben, voice(0.7, 0.1), anna]],
    ["its voice is nobody's", [anna, ben, voice(0.1, 0.3), anna]],
    ["it might be either's", [anna, ben, voice(0.5, 0.6), anna]],
    ["two people's voices are much similar", [voice(0.8, 0.6), ben, voice(0.4, 0.6), voice(0.8, 0.6)]],
  ];
  test.each(unclear)("keeps its speaker where %s", async (_, voices) => {
    expect(speakersOf(await compared(sentences, voices, 4))).toEqual([0, 1, 0, 0]);
  });

  test("keeps a speaker who has no other sentence", async () => {
    const owners = await compared(sentences.slice(0, 2), [anna, voice(0.9, 0.1)], 4);
    expect(speakersOf(owners)).toEqual([0, 1]);
    // Nothing is known of Ben's voice, so the sentence may be Anna's.
    expect(owners[1]?.margin).toBeCloseTo(-0.9);
  });

  test("has the margin by which its voice is more its speaker's than any other's", async () => {
    const marginOf = async (third: Float32Array) => (await compared(sentences, [anna, ben, third, anna], 4))[2]?.margin;
    expect([await marginOf(voice(0.7, 0.1)), await marginOf(voice(0.5, 0.6)), await marginOf(voice(0.1, 0.7))]).toEqual(
      [
        expect.closeTo(0.6),
        expect.closeTo(-0.1),
        // It is Ben's.
        expect.closeTo(0.6),
      ],
    );
  });
});

test("missing voices, or more voices than sentences, are an error", async () => {
  const two = [
    { speaker: 0, seconds: 2 },
    { speaker: 1, seconds: 2 },
  ];
  await expect(compared(two, [anna], 4)).rejects.toThrow("000001.block");
  await expect(compared(two, [anna, ben, anna], 4)).rejects.toThrow("more than the sentences");
});

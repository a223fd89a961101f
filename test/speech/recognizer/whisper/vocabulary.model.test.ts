import { afterAll, describe, expect, test } from "bun:test";
import { toPrompt } from "../../../../src/speech/recognizer/whisper/prompt.ts";
import { canTranscribe, openBase, readSamples, threads } from "../../../support/whisper.ts";

/** "Tell me what happened, quoth Zau al-Makan." */
const named = "single/en-libri-2033-164914-0005.flac";
const music = "formats/nospeech-music-20s.flac";
const vocabulary = "Zau al-Makan, Helstone, Leverrier";

describe.skipIf(!canTranscribe("a vocabulary", named, music))("a vocabulary", () => {
  const state = openBase().createState();
  afterAll(() => state.dispose());
  const textOf = async (recording: string, said: string) => {
    const samples = await readSamples(recording);
    const { segments } = await state.transcribe(samples, {
      ...{ language: "en", threads, withoutTimestamps: true, suppressNonSpeech: true },
      initialPrompt: toPrompt(said),
    });
    return segments.map((segment) => segment.text).join("");
  };

  test("makes whisper write a difficult name, but none that is not said", async () => {
    expect(await textOf(named, "")).not.toContain("Makan");
    const text = await textOf(named, vocabulary);
    expect(text).toContain("Tell me what happened");
    expect(text).toContain("Zau al-Makan");
    expect(text).not.toMatch(/Helstone|Leverrier/);
  }, 120_000);

  test("keeps its last names if it is much longer than whisper accepts", async () => {
    const others = "Kubernetes, Fisichella, Kowloon, Müller-Lüdenscheidt, Carpanedo, Mashhad, ".repeat(60);
    expect(await textOf(named, `${others}Zau al-Makan`)).toContain("Zau al-Makan");
  }, 120_000);

  test("is not transcribed where nobody speaks", async () => {
    expect(await textOf(music, vocabulary)).not.toMatch(/Zau|Makan|Helstone|Leverrier/);
    // The prompt of one call has no effect on the next.
    expect(await textOf(named, "")).not.toContain("Makan");
  }, 120_000);
});

test.each([
  ["", ""],
  ["Zau al-Makan", "Zau al-Makan."],
  ["Kowloon, Fisichella.", "Kowloon, Fisichella."],
  ["who is „Müller“?", "who is „Müller“?"],
  ["東京都。", "東京都。"],
])("the vocabulary %j goes before a chunk as %j", (said, prompt) => {
  expect(toPrompt(said)).toBe(prompt);
});

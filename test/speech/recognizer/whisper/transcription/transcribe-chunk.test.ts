import { describe, expect, test } from "bun:test";
import { transcribeChunk } from "../../../../../src/speech/recognizer/whisper/transcription/transcribe-chunk.ts";
import { soundAt } from "../../../sound-at.ts";
import { scriptedState, segmentOf, spread, textOf } from "./support.ts";

const options = { language: "en", threads: 1 } as const;
const speech = soundAt(12, [0.5, 5.5], [6, 11.5]);
const firstText = "The first sentence is of some words of some length.";
const otherText = "The other sentence has about as many other words.";
const first = spread(firstText, 0.5, 5.5);
const second = spread(otherText, 6, 11.5);
const both = `${firstText} ${otherText}`;

describe("a chunk", () => {
  test("without doubts is transcribed once", async () => {
    const { state, calls } = scriptedState([segmentOf([...first, ...second])]);
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(both);
    expect(calls).toEqual([{ seconds: 12, withTimestamps: false }]);
  });

  test("without speech is empty and transcribed once", async () => {
    const { state } = scriptedState([]);
    expect(await transcribeChunk(state, soundAt(9, [1, 8]), options)).toEqual([]);
  });

  test("with an omitted sentence is transcribed again with timestamps", async () => {
    const { state, calls } = scriptedState([segmentOf(first)], [segmentOf(first), segmentOf(second)]);
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(both);
    expect(calls.map(({ withTimestamps }) => withTimestamps)).toEqual([false, true]);
  });

  test("that lacks a sentence in both passes is transcribed again in the span without words", async () => {
    const alone = spread(otherText, 0.3, 5.5);
    const { state, calls } = scriptedState([segmentOf(first)], [segmentOf(first)], [segmentOf(alone)]);
    const utterances = await transcribeChunk(state, speech, options);
    expect(textOf(utterances)).toBe(both);
    expect(calls[2]?.seconds).toBeWithin(6, 7.5);
    expect(utterances.at(-1)?.words[0]?.startSeconds).toBeWithin(5.2, 6.2);
  });

  test("gets no hallucinated words in its span without words", async () => {
    const guess = spread("Thank you.", 0.3, 1, 0.3);
    const { state } = scriptedState([segmentOf(first)], [segmentOf(first)], [segmentOf(guess)]);
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(firstText);
  });

  test("with a loop in both passes is transcribed in two parts, split in a pause", async () => {
    const loop = spread(Array.from({ length: 9 }, () => "other words").join(" "), 6, 11.5);
    const looping = () => [segmentOf([...first, ...loop])];
    const other = spread(otherText, 0.25, 5.75);
    const { state, calls } = scriptedState(looping(), looping(), [segmentOf(first)], [segmentOf(other)]);
    const utterances = await transcribeChunk(state, speech, options);
    expect(textOf(utterances)).toBe(both);
    expect(calls[2]?.seconds).toBeWithin(5.5, 6);
    expect((calls[2]?.seconds ?? 0) + (calls[3]?.seconds ?? 0)).toBeCloseTo(12, 3);
    expect(utterances[1]?.words[0]?.startSeconds).toBeCloseTo(6, 1);
  });

  test("with a loop at its end is taken from the pass without one", async () => {
    const loop = spread(Array.from({ length: 9 }, () => "other words").join(" "), 6, 11.5);
    const { state } = scriptedState([segmentOf([...first, ...loop])], [segmentOf([...first, ...second])]);
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(both);
  });

  test("keeps a repetition that every pass has", async () => {
    const song = Array.from({ length: 5 }, () => "New York,").join(" ");
    const reading = () => [segmentOf([...spread(song, 0.5, 5.5), ...second])];
    const { state } = scriptedState(
      reading(),
      reading(),
      [segmentOf(spread(song, 0.5, 5.5))],
      [segmentOf(spread(otherText, 0.25, 5.75))],
    );
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(`${song} ${otherText}`);
  });

  test("with a sentence drawn out over an equal one is transcribed in two parts and has both", async () => {
    const drawnOut = () => [
      segmentOf([...spread("It is said once.", 0.5, 6.5), ...spread("It is said once.", 7.5, 11.5)]),
    ];
    const half = () => [segmentOf(spread("It is said once. It is said once.", 0.5, 5))];
    const { state } = scriptedState(drawnOut(), drawnOut(), half(), half());
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(Array(4).fill("It is said once.").join(" "));
  });

  test("with one slow sentence is not taken from parts that omit half of it", async () => {
    const end = "accompanied deliberations, considerably once more.";
    const slow = () => [segmentOf(spread(`Notwithstanding representations, congratulations ${end}`, 0.5, 11.5))];
    const { state, calls } = scriptedState(slow(), slow(), [], [segmentOf(spread(end, 0.1, 4.9))]);
    expect(textOf(await transcribeChunk(state, speech, options))).toStartWith("Notwithstanding");
    expect(calls).toHaveLength(4);
  });

  test.each([
    ["words that are guessed", "Thank you for watching.", { probability: 0.2, noSpeech: 0.01, seconds: 3 }],
    ["words where whisper doubts that anybody speaks", "Thank you.", { probability: 0.3, noSpeech: 0.6, seconds: 1 }],
    ["drawn-out words over music", "Thank you very much.", { probability: 0.35, noSpeech: 0.02, seconds: 9 }],
    ["one word where whisper hears no speech itself", "you", { probability: 0.3, noSpeech: 0.9, seconds: 1 }],
    ["dots", ". . .", { probability: 0.9, noSpeech: 0.1, seconds: 3 }],
  ])("loses %s", async (_, text, { probability, noSpeech, seconds }) => {
    const guess = () => [segmentOf(spread(text, 1, 1 + seconds, probability), noSpeech)];
    const { state } = scriptedState(guess(), guess());
    expect(await transcribeChunk(state, soundAt(seconds + 2, [1, 1 + seconds]), options)).toEqual([]);
  });

  test.each([
    ["a word", Array.from({ length: 13 }, () => "woo,").join(" ")],
    ["a syllable", Array.from({ length: 16 }, () => "wh").join("-")],
  ])("loses %s that both passes repeat with a high probability of no speech", async (_, text) => {
    const readings = Array.from({ length: 4 }, () => [segmentOf(spread(text, 0, 8), 0.6)]);
    const { state } = scriptedState(...readings);
    expect(await transcribeChunk(state, soundAt(8, [0, 8]), options)).toEqual([]);
  });

  test("loses a hallucinated sentence and keeps the others", async () => {
    const guess = spread("Thanks for watching this video.", 6, 11.5, 0.2);
    const { state } = scriptedState([segmentOf([...first, ...guess])], [segmentOf([...first, ...guess])]);
    expect(textOf(await transcribeChunk(state, speech, options))).toBe(firstText);
  });

  test.each([
    ["a thank you that was said", "Thank you.", { probability: 0.9, noSpeech: 0.3, seconds: 1 }],
    ["a single word that is hard to hear", "Six.", { probability: 0.33, noSpeech: 0.3, seconds: 1 }],
    ["slow speech", "I say it once more.", { probability: 0.5, noSpeech: 0.2, seconds: 7 }],
    [
      "speech in a language that it knows badly",
      "Ninakupenda sana rafiki.",
      { probability: 0.3, noSpeech: 0.1, seconds: 2 },
    ],
  ])("keeps %s", async (_, text, { probability, noSpeech, seconds }) => {
    const reading = () => [segmentOf(spread(text, 1, 1 + seconds, probability), noSpeech)];
    const { state } = scriptedState(reading(), reading());
    expect(textOf(await transcribeChunk(state, soundAt(seconds + 2, [1, 1 + seconds]), options))).toBe(text);
  });

  test("that is aborted throws", async () => {
    const { state } = scriptedState([segmentOf(first)]);
    let calls = 0;
    const failing = {
      ...state,
      transcribe: async (...call: Parameters<typeof state.transcribe>) =>
        calls++ === 0 ? await state.transcribe(...call) : { aborted: true, segments: [] },
    };
    await expect(transcribeChunk(failing, speech, options)).rejects.toThrow("aborted");
  });
});

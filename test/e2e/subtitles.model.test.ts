import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { recordingsFolder } from "../../harness/checkout.ts";
import { startServerForSuite } from "./suite-server.ts";

/** Two channels whose parties speak at the same time, in English and German. */
const both = join(recordingsFolder, "cases/two-parties-at-once.opus");

/** Maximum distance of a subtitle from its words, in seconds. */
const NEAR_SECONDS = 0.1;

const wordsSchema = Type.Array(Type.Object({ text: Type.String(), start: Type.Number(), end: Type.Number() }));
const transcriptSchema = Type.Object({ segments: Type.Array(Type.Object({ words: wordsSchema })) });

interface ShownCue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function secondsOf(time: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = time.replace(",", ".").split(":").map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

/** Returns the cues of a SubRip or WebVTT file. */
function cuesIn(file: string): ShownCue[] {
  return [...file.matchAll(/^(\S+) --> (\S+)\n((?:.+\n?)+)/gm)].map(([, start = "", end = "", lines = ""]) => {
    const text = lines
      .replace(/<v [^>]*>/, "")
      .trim()
      .replace(/\s+/g, " ");
    return { start: secondsOf(start), end: secondsOf(end), text };
  });
}

/** Returns the words of a cue, which follow each other in a segment. */
function wordsOf({ text }: ShownCue, { segments }: Static<typeof transcriptSchema>) {
  const count = text.split(" ").length;
  for (const { words } of segments) {
    for (const from of words.keys()) {
      const some = words.slice(from, from + count);
      if (some.map((word) => word.text).join(" ") === text) return some;
    }
  }
  throw new Error(`no segment has the words "${text}"`);
}

describe("two parties who speak at the same time", () => {
  const suite = startServerForSuite("subtitles");
  const { server } = suite;

  const subtitlesOfOpenAi = async (format: string): Promise<string> => {
    const body = new FormData();
    body.append("model", "whisper-1");
    body.append("response_format", format);
    body.append("file", Bun.file(both));
    const headers = { authorization: `Bearer ${suite.client.key}` };
    const response = await fetch(`${server.origin}/v1/audio/transcriptions`, { method: "POST", headers, body });
    return await response.text();
  };

  test(
    "have every subtitle at its words, in order of time",
    server.showingLog(async () => {
      const { ended } = await suite.client.transcribe(both);
      const exported = async (format: string): Promise<string> =>
        await (await suite.client.fetch(`/transcriptions/${ended.id}/export?format=${format}`)).text();
      const transcript = Value.Parse(transcriptSchema, JSON.parse(await exported("json")));
      const files = [await exported("srt"), await exported("vtt"), await subtitlesOfOpenAi("srt")];
      for (const file of files) {
        const cues = cuesIn(file);
        expect(cues.length).toBeGreaterThanOrEqual(5);
        expect(cues.map(({ start }) => start)).toEqual(cues.map(({ start }) => start).sort((a, b) => a - b));
        const shown = cues.map((cue) => ({ cue, words: wordsOf(cue, transcript) }));
        for (const { cue, words } of shown) {
          expect(Math.abs(cue.start - (words[0]?.start ?? 0))).toBeLessThanOrEqual(NEAR_SECONDS);
          expect(Math.abs(cue.end - (words.at(-1)?.end ?? 0))).toBeLessThanOrEqual(NEAR_SECONDS);
        }
        // No word is lost or shown twice, and both parties are on the screen at once.
        const all = transcript.segments.flatMap(({ words }) => words);
        expect(new Set(shown.flatMap(({ words }) => words))).toEqual(new Set(all));
        expect(cues.some(({ start }, index) => start < (cues[index - 1]?.end ?? 0))).toBe(true);
      }
    }),
    180_000,
  );
});

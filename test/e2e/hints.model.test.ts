import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, corpusPath } from "../../harness/checkout.ts";
import { bodyOf } from "../../harness/client.ts";
import { type Segment, segmentPageContract } from "../../harness/contract.ts";
import { MEDIA_TOOL, makeWithFfmpeg } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { startServerForSuite } from "./suite-server.ts";

/** "Tell me what happened, quoth Zau al-Makan." */
const named = corpusPath("single/en-libri-2033-164914-0005.flac");
const dialogue = corpusPath("dialogue/dlg-09-2spk-short-turns.flac");
const ready = available("e2e tests of hints", named, dialogue, MEDIA_TOOL);

const speakersOf = (segments: readonly Segment[]) => new Set(segments.map(({ speaker }) => speaker)).size;

describe.if(ready)("hints of a create", () => {
  const suite = startServerForSuite("hints");

  test("lead to a difficult name that is not recognized without them", async () => {
    const textWith = async (hints: Record<string, string>) =>
      (await suite.client.transcribe(named, { language: "en", ...hints })).segments.map(({ text }) => text).join(" ");
    expect(await textWith({})).not.toContain("Makan");
    expect(await textWith({ prompt: "Zau al-Makan\nHelstone\nLeverrier" })).toContain("Zau al-Makan");
  }, 240_000);

  test("lead to the number of speakers, and the words of segments have their times", async () => {
    using directory = temporaryDirectory();
    const excerpt = join(directory.path, "excerpt.wav");
    makeWithFfmpeg("-i", dialogue, "-t", "24", excerpt);
    const { ended, segments } = await suite.client.transcribe(excerpt, { language: "en", speakers: "3" });
    expect(speakersOf(segments)).toBe(3);

    const answer = await suite.client.fetch(`/transcriptions/${ended.id}/segments?words=true&limit=1000`);
    const { data } = await bodyOf(answer, 200, segmentPageContract);
    expect(data.map(({ words, ...segment }) => segment)).toEqual(segments);
    for (const { words = [], text, start, end } of data) {
      expect(words.map((word) => word.text).join(" ")).toBe(text);
      const times = words.flatMap((word) => [word.start, word.end]);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(Math.abs((times[0] ?? 0) - start)).toBeLessThan(1);
      expect(Math.abs((times.at(-1) ?? 0) - end)).toBeLessThan(1);
    }
  }, 240_000);
});

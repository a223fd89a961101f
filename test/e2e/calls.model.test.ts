import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, corpusPath } from "../../harness/checkout.ts";
import type { Segment } from "../../harness/contract.ts";
import { FFMPEG, MEDIA_TOOL, makeWithFfmpeg } from "../../harness/media.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { errorRate } from "../../harness/wer.ts";
import { englishWordErrors } from "../support/english-words.ts";
import { startServerForSuite } from "./suite-server.ts";

const turnsSchema = Type.Array(
  Type.Object({ speaker: Type.String(), text: Type.String(), end: Type.Optional(Type.Number()) }),
);

/** Returns the text that each party says before a moment, in order of first appearance. */
async function partiesOf(path: string, beforeSeconds: number): Promise<string[]> {
  const turns = Value.Parse(turnsSchema, await Bun.file(path).json());
  const earlier = turns.filter(({ end = 0 }) => end < beforeSeconds);
  return [...Map.groupBy(earlier, ({ speaker }) => speaker).values()].map((turns) =>
    turns.map(({ text }) => text).join(" "),
  );
}

const call = corpusPath("dialogue/dlg-11-2spk-stereo-call.wav");
const both = corpusPath("dialogue/stereo-two-channels.flac");
const ready = available("e2e tests of calls", call, both, FFMPEG, MEDIA_TOOL);

/** Returns the filter that adds an echo of the other party at a tenth of the volume. */
const withEcho = (milliseconds: number, path: string) =>
  `asplit[dry][wet];[wet]pan=stereo|c0=0.1*c1|c1=0.1*c0,adelay=${milliseconds}|${milliseconds},${path}[echo]` +
  ";[dry][echo]amix=normalize=0:duration=first";

describe.if(ready)("a call with a channel for each party", () => {
  const suite = startServerForSuite("calls");
  const { server } = suite;

  /**
   * Expects one label per party and a bounded word error rate, which rises when words repeat or belong to the other
   * party.
   */
  const expectSeparateParties = (segments: readonly Segment[], parties: readonly string[], maxErrorRate: number) => {
    expect([...new Set(segments.map(({ speaker }) => speaker))]).toEqual(["A", "B"]);
    for (const [index, text] of parties.entries()) {
      const own = segments.filter(({ speaker }) => speaker === "AB"[index]);
      const recognized = own.map((segment) => segment.text).join(" ");
      expect(errorRate([englishWordErrors(text, recognized)])).toBeLessThanOrEqual(maxErrorRate);
    }
    const starts = segments.map(({ start }) => start);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(segments.map(({ index }) => index)).toEqual(segments.map((_, index) => index));
  };

  test(
    "yields all words of both parties, also where both talk at once, and if one speaker is asked for",
    server.showingLog(async () => {
      const { segments } = await suite.client.transcribe(both, { max_speakers: "1" });
      expectSeparateParties(segments, await partiesOf(corpusPath("dialogue/stereo-two-channels.turns.json"), 5), 0);
    }),
    180_000,
  );

  test.each([
    [200, "anull"],
    [1000, "anull"],
    [700, "highpass=300,highpass=300,lowpass=3400,lowpass=3400"],
  ])(
    "yields no repeated words and no third speaker when each channel has an echo of the other party, %d ms late",
    (milliseconds, filter) =>
      server.showingLog(async () => {
        using directory = temporaryDirectory();
        const path = join(directory.path, "call.wav");
        makeWithFfmpeg("-i", call, "-t", "24", "-filter_complex", withEcho(milliseconds, filter), path);
        const { ended, segments } = await suite.client.transcribe(path);
        expect(ended).toMatchObject({ status: "completed", language: "en", duration_seconds: 24 });
        // With the echo, eight or nine of the 44 words of one party are wrong, depending on the CPU kernels. The other
        // has 17.
        expectSeparateParties(
          segments,
          await partiesOf(corpusPath("dialogue/dlg-11-2spk-stereo-call.turns.json"), 24),
          0.25,
        );
      })(),
    180_000,
  );
});

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { FFMPEG, makeWithFfmpeg } from "../media/support.ts";
import { available, corpusPath } from "../support/checkout.ts";
import type { Segment } from "../support/contract.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { englishWordErrors, errorRate } from "../support/wer.ts";
import { startServerForSuite } from "./suite-server.ts";

const saidSchema = Type.Array(
  Type.Object({ speaker: Type.String(), text: Type.String(), end: Type.Optional(Type.Number()) }),
);

/** What each party says before a moment, in order of first appearance. */
async function partiesOf(path: string, beforeSeconds: number): Promise<string[]> {
  const turns = Value.Parse(saidSchema, await Bun.file(path).json());
  const said = turns.filter(({ end = 0 }) => end < beforeSeconds);
  return [...Map.groupBy(said, ({ speaker }) => speaker).values()].map((turns) =>
    turns.map(({ text }) => text).join(" "),
  );
}

const call = corpusPath("dialogue/dlg-11-2spk-stereo-call.wav");
const both = corpusPath("dialogue/stereo-two-channels.flac");
const ready = available("e2e tests of calls", call, both, FFMPEG);

/** The echo of the other party, a tenth as loud and a fifth of a second late. */
const withEcho =
  "asplit[dry][wet];[wet]pan=stereo|c0=0.1*c1|c1=0.1*c0,adelay=200|200[echo];[dry][echo]amix=normalize=0:duration=first";

describe.if(ready)("a call with a channel for each party", () => {
  const made = startServerForSuite("calls");
  const { server } = made;

  /** Each party has one label, and at most these parts of what it says are wrong: nothing is the other's, or there twice. */
  const isToldApart = (segments: readonly Segment[], parties: readonly string[], mostErrors: number) => {
    expect([...new Set(segments.map(({ speaker }) => speaker))]).toEqual(["A", "B"]);
    for (const [index, text] of parties.entries()) {
      const own = segments.filter(({ speaker }) => speaker === "AB"[index]);
      const heard = own.map((segment) => segment.text).join(" ");
      expect(errorRate([englishWordErrors(text, heard)])).toBeLessThanOrEqual(mostErrors);
    }
    const starts = segments.map(({ start }) => start);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(segments.map(({ index }) => index)).toEqual(segments.map((_, index) => index));
  };

  test(
    "has all words of both, where both talk at once",
    server.showingLog(async () => {
      const { segments } = await made.client.transcribe(both);
      isToldApart(segments, await partiesOf(corpusPath("dialogue/stereo-two-channels.turns.json"), 5), 0);
    }),
    180_000,
  );

  test(
    "and echo of the other party has no word twice, none of the other's, and no third speaker",
    server.showingLog(async () => {
      using directory = temporaryDirectory();
      const path = join(directory.path, "call.wav");
      makeWithFfmpeg("-i", call, "-t", "24", "-filter_complex", withEcho, path);
      const { ended, segments } = await made.client.transcribe(path);
      expect(ended).toMatchObject({ status: "completed", language: "en", duration_seconds: 24 });
      // Of 44 and 17 words with the echo below them: nine of the 44 are wrong, or eight, by which kernels compute them.
      isToldApart(segments, await partiesOf(corpusPath("dialogue/dlg-11-2spk-stereo-call.turns.json"), 24), 0.25);
    }),
    180_000,
  );
});

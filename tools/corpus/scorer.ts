import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { DiarizationErrors } from "../../harness/der.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { askPython, installPythonPackages } from "../shared/python.ts";

const answerSchema = Type.Object({
  texts: Type.Array(Type.String()),
  talks: Type.Array(
    Type.Object({ total: Type.Number(), false_alarm: Type.Number(), missed: Type.Number(), confusion: Type.Number() }),
  ),
});

/** Returns the words of a text after Whisper's own normalization. */
export type Normalise = (language: string, text: string) => readonly string[];

/**
 * Installs Whisper's text normalizers and pyannote.metrics in a Python environment of their own.
 * @throws {CommandError} when Python, pip or the packages are unavailable
 */
export async function installScorer() {
  const packages = await installPythonPackages(defaultCacheRoot(), {
    name: "scorer",
    packages: ["pyannote.metrics", "whisper-normalizer"],
    constraints: join(import.meta.dir, "scorer-constraints.txt"),
    timeoutMilliseconds: 600_000,
  });
  const ask = (question: object) =>
    askPython(join(import.meta.dir, "scorer.py"), packages, { texts: [], talks: [], ...question }, answerSchema);
  return {
    /** Normalizes texts by language: English with Whisper's English normalizer, all others with its basic one. */
    async normalise(texts: readonly (readonly [language: string, text: string])[]): Promise<Normalise> {
      const { texts: normalised } = await ask({ texts });
      const known = new Map(texts.map(([language, text], index) => [`${language} ${text}`, normalised[index] ?? ""]));
      return (language, text) => {
        const words = known.get(`${language} ${text}`);
        if (words === undefined) throw new Error("a text was not normalized before it was scored");
        return words.split(" ").filter((word) => word !== "");
      };
    },
    /** Computes errors with pyannote.metrics, without a collar and with overlap scored. */
    async diarizationErrors(
      talks: readonly { readonly reference: readonly NamedTurn[]; readonly found: readonly NamedTurn[] }[],
    ): Promise<DiarizationErrors[]> {
      const turns = (all: readonly NamedTurn[]) => all.map((one) => [one.startSeconds, one.endSeconds, one.speaker]);
      const pairs = talks.map(({ reference, found }) => [turns(reference), turns(found)]);
      return (await ask({ talks: pairs })).talks.map((errors) => ({
        totalSeconds: errors.total,
        falseAlarmSeconds: errors.false_alarm,
        missedSeconds: errors.missed,
        confusionSeconds: errors.confusion,
      }));
    },
  };
}

export type Scoring = Awaited<ReturnType<typeof installScorer>>;

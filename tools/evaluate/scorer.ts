import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import type { DiarizationErrors } from "../../harness/der.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { askPython, installPythonPackages } from "../shared/python.ts";

/** Reference turns and found turns to compare. */
export interface Talk {
  readonly reference: readonly NamedTurn[];
  readonly found: readonly NamedTurn[];
}

const answerSchema = Type.Object({
  texts: Type.Array(Type.String()),
  talks: Type.Array(
    Type.Object({
      total: Type.Number(),
      false_alarm: Type.Number(),
      missed: Type.Number(),
      confusion: Type.Number(),
    }),
  ),
});

/** Returns the words of a text after Whisper's own normalization. */
export type Normalise = (language: string, text: string) => readonly string[];

/** Measurements by the standard tools of the field. */
export interface Scoring {
  /** Normalizes texts by language: English with Whisper's English normalizer, all others with its basic one. */
  normalise(texts: readonly (readonly [language: string, text: string])[]): Promise<Normalise>;
  /** Computes errors with pyannote.metrics, without a collar and with overlap scored. */
  diarizationErrors(talks: readonly Talk[]): Promise<DiarizationErrors[]>;
}

/** Runs Whisper's text normalizers and pyannote.metrics in a Python environment of their own. */
export class Scorer implements Scoring {
  readonly #packages: string;

  private constructor(packages: string) {
    this.#packages = packages;
  }

  /** @throws {CommandError} when Python, pip or the packages are unavailable */
  static async install(): Promise<Scorer> {
    const packages = await installPythonPackages(defaultCacheRoot(), {
      name: "scorer",
      packages: ["pyannote.metrics", "whisper-normalizer"],
      constraints: join(import.meta.dir, "constraints.txt"),
      timeoutMilliseconds: 600_000,
    });
    return new Scorer(packages);
  }

  async normalise(texts: readonly (readonly [language: string, text: string])[]): Promise<Normalise> {
    const { texts: normalised } = await this.#ask(texts, []);
    const known = new Map(texts.map(([language, text], index) => [key(language, text), normalised[index] ?? ""]));
    return (language, text) => {
      const words = known.get(key(language, text));
      if (words === undefined) throw new Error("a text was not normalized before it was scored");
      return words.split(" ").filter((word) => word !== "");
    };
  }

  async diarizationErrors(talks: readonly Talk[]): Promise<DiarizationErrors[]> {
    return (await this.#ask([], talks)).talks.map((errors) => ({
      totalSeconds: errors.total,
      falseAlarmSeconds: errors.false_alarm,
      missedSeconds: errors.missed,
      confusionSeconds: errors.confusion,
    }));
  }

  async #ask(texts: readonly (readonly [string, string])[], talks: readonly Talk[]) {
    const turns = (all: readonly NamedTurn[]) => all.map((turn) => [turn.startSeconds, turn.endSeconds, turn.speaker]);
    const question = { texts, talks: talks.map(({ reference, found }) => [turns(reference), turns(found)]) };
    return askPython(join(import.meta.dir, "scorer.py"), this.#packages, question, answerSchema);
  }
}

function key(language: string, text: string): string {
  return `${language} ${text}`;
}

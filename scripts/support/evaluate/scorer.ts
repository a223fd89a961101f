import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../../native/build.ts";
import type { DiarizationErrors } from "../../../test/support/der.ts";
import type { NamedTurn } from "../../../test/support/rttm.ts";
import { askPython } from "../ask-python.ts";
import { installPythonPackages } from "../python-packages.ts";

/** Turns to hold against each other. */
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

/** Texts as Whisper's own normalisers write them, in words. */
export type Normalise = (language: string, text: string) => readonly string[];

/** What measuring leaves to the field's own tools. */
export interface Scoring {
  /** Normalises texts, each in its language: English by Whisper's English normaliser, all others by its basic one. */
  normalise(texts: readonly (readonly [language: string, text: string])[]): Promise<Normalise>;
  /** Errors without a collar and with overlap scored, by pyannote.metrics. */
  diarizationErrors(talks: readonly Talk[]): Promise<DiarizationErrors[]>;
}

/** Whisper's text normalisers and pyannote.metrics, in a Python environment of their own. */
export class Scorer implements Scoring {
  readonly #packages: string;

  private constructor(packages: string) {
    this.#packages = packages;
  }

  /** @throws {CommandError} where there is no Python, no pip, or nowhere to install from */
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
      if (words === undefined) throw new Error("a text was not normalised before it was scored");
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

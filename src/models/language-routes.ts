import { Value } from "@sinclair/typebox/value";
import { modelIdSchema } from "./catalogue.ts";

/** The models of `engine.recognizers`, by language. */
export interface LanguageRoutes {
  /** Model ids by ISO code, in the order of the setting. */
  readonly byCode: ReadonlyMap<string, string>;
  /** Id of the model for language detection and for languages that no other model knows; null if not set. */
  readonly rest: string | null;
}

const ENTRY = /^(?<codes>\*|[a-z]{2,3}(?: +[a-z]{2,3})*) *: *(?<id>\S+)$/;

/**
 * Parses `engine.recognizers`: texts like `de fr: MODEL`, and at most one of `*: MODEL`.
 * @throws {Error} that names the faulty entry
 */
export function parseLanguageRoutes(entries: readonly string[]): LanguageRoutes {
  const byCode = new Map<string, string>();
  let rest: string | null = null;
  for (const entry of entries) {
    const { codes = "", id = "" } = ENTRY.exec(entry.trim())?.groups ?? {};
    if (!Value.Check(modelIdSchema, id)) {
      throw new Error(`${JSON.stringify(entry)} must be language codes and a model's id, like "de fr: ID" or "*: ID"`);
    }
    for (const code of codes.split(/ +/)) {
      if (code === "*" ? rest !== null : byCode.has(code)) throw new Error(`${code} is listed twice`);
      if (code === "*") rest = id;
      else byCode.set(code, id);
    }
  }
  return { byCode, rest };
}

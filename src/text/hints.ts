import { normalizeTerms } from "./terms.ts";

/** Maximum length of a prompt in characters, as the sender wrote it. */
export const MAX_PROMPT_CHARACTERS = 2000;
/** Maximum number of speakers that can be given. */
export const MAX_SPEAKERS = 50;

/** Facts that a sender knows about a recording. */
export interface Hints {
  /** Names and terms of the recording, on one line; null for none. */
  readonly prompt: string | null;
  /** Bounds of the number of speakers, which are equal if it is known exactly; null for none. */
  readonly minSpeakers: number | null;
  readonly maxSpeakers: number | null;
}

/** Hints as a form or a command line has them. */
type HintTexts = { readonly [Name in HintName]?: string | undefined };
export type HintName = "prompt" | "speakers" | "min_speakers" | "max_speakers";

/** Error for a hint that is not valid. Its message is a sentence about the hint and does not repeat its text. */
export class HintError extends Error {
  override readonly name = "HintError";

  constructor(
    readonly hint: HintName,
    message: string,
  ) {
    super(message);
  }
}

/** Parses hints. @throws {HintError} when one is not valid */
export function parseHints(texts: HintTexts): Hints {
  return { prompt: parsePrompt(texts.prompt), ...parseSpeakers(texts) };
}

function parsePrompt(text: string | undefined): string | null {
  if (text === undefined || text.trim() === "") return null;
  // Browsers send each line end as two characters.
  if (Array.from(text.replaceAll("\r\n", "\n")).length > MAX_PROMPT_CHARACTERS) {
    throw new HintError("prompt", `It has more than ${MAX_PROMPT_CHARACTERS} characters.`);
  }
  const normalized = normalizeTerms(text);
  if (normalized.ok) return normalized.terms;
  throw new HintError(
    "prompt",
    normalized.flaw === "no_term"
      ? "It has no name or term: neither letters nor digits."
      : "It must be plain text without control characters.",
  );
}

function parseSpeakers(texts: HintTexts): Pick<Hints, "minSpeakers" | "maxSpeakers"> {
  const exact = parseCount("speakers", texts);
  const minSpeakers = parseCount("min_speakers", texts);
  const maxSpeakers = parseCount("max_speakers", texts);
  if (exact !== null) {
    if (minSpeakers === null && maxSpeakers === null) return { minSpeakers: exact, maxSpeakers: exact };
    throw new HintError("speakers", "Give either the exact number of speakers or its bounds.");
  }
  if (minSpeakers !== null && maxSpeakers !== null && minSpeakers > maxSpeakers) {
    throw new HintError("min_speakers", "It must not be greater than the maximum.");
  }
  return { minSpeakers, maxSpeakers };
}

function parseCount(name: Exclude<HintName, "prompt">, texts: HintTexts): number | null {
  const text = texts[name];
  if (text === undefined) return null;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_SPEAKERS) return count;
  throw new HintError(name, `It must be a whole number from 1 to ${MAX_SPEAKERS}.`);
}

import { Type } from "@sinclair/typebox";
import type { Recording } from "../recordings/index.ts";
import { normalizeTerms } from "../text/index.ts";
import { invalidField } from "./errors.ts";
import type { TextFields } from "./upload/index.ts";

/** Maximum length of a prompt in characters, as the client sends it. */
export const MAX_PROMPT_CHARACTERS = 2000;
/** Maximum number of speakers that can be given. */
export const MAX_SPEAKERS = 50;

const speakers = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SPEAKERS, description, example }));

/** The parts of a create's form by which a client tells what it knows about a recording. */
export const hintParts = {
  prompt: Type.Optional(
    Type.String({
      maxLength: MAX_PROMPT_CHARACTERS,
      description:
        "Names and terms of this recording, separated by commas or line ends. They are used together with the " +
        "account's vocabulary. An empty prompt is none.",
      example: "Zau al-Makan, Helstone, Leverrier",
    }),
  ),
  speakers: speakers("Exact number of speakers. It can't be combined with `min_speakers` and `max_speakers`.", 2),
  min_speakers: speakers("Minimum number of speakers.", 2),
  max_speakers: speakers("Maximum number of speakers, at least `min_speakers`.", 4),
};

/** What a client knows about a recording, as it is stored. */
export type Hints = Pick<Recording, "prompt" | "minSpeakers" | "maxSpeakers">;

/**
 * Returns the hints in a create's form.
 * @throws 422 under the name of a part that is not valid
 */
export function hintsOf(fields: TextFields): Hints {
  return { prompt: promptOf(fields.prompt), ...speakersOf(fields) };
}

function promptOf(text: string | undefined): string | null {
  if (text === undefined || text.trim() === "") return null;
  // Browsers send each line end as two characters.
  if (Array.from(text.replaceAll("\r\n", "\n")).length > MAX_PROMPT_CHARACTERS) {
    throw invalidField("prompt", `It has more than ${MAX_PROMPT_CHARACTERS} characters.`);
  }
  const normalized = normalizeTerms(text);
  if (normalized.ok) return normalized.terms;
  throw invalidField(
    "prompt",
    normalized.flaw === "no_term"
      ? "It has no name or term: neither letters nor digits."
      : "It must be plain text without control characters.",
  );
}

function speakersOf(fields: TextFields): Pick<Hints, "minSpeakers" | "maxSpeakers"> {
  const exact = countOf("speakers", fields);
  const minSpeakers = countOf("min_speakers", fields);
  const maxSpeakers = countOf("max_speakers", fields);
  if (exact !== null) {
    if (minSpeakers === null && maxSpeakers === null) return { minSpeakers: exact, maxSpeakers: exact };
    throw invalidField("speakers", "Send either speakers, or min_speakers and max_speakers.");
  }
  if (minSpeakers !== null && maxSpeakers !== null && minSpeakers > maxSpeakers) {
    throw invalidField("min_speakers", "It must not be greater than max_speakers.");
  }
  return { minSpeakers, maxSpeakers };
}

function countOf(name: "speakers" | "min_speakers" | "max_speakers", fields: TextFields): number | null {
  const text = fields[name];
  if (text === undefined) return null;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_SPEAKERS) return count;
  throw invalidField(name, `It must be a whole number from 1 to ${MAX_SPEAKERS}.`);
}

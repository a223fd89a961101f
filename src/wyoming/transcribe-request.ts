import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { joinTerms, MAX_PROMPT_CHARACTERS, normalizeTerms } from "../text/index.ts";
import type { WyomingEvent } from "./event-parser.ts";
import { WyomingError } from "./wyoming-error.ts";

/** The speech model of new sessions, as the server describes it. */
export interface OfferedModel {
  readonly id: string;
  /** ISO 639. */
  readonly languages: readonly string[];
  /** Name of the model for people. */
  readonly title: string;
  /** Address of its publisher; empty if it is not known. */
  readonly homepage: string;
}

const text = Type.String({ maxLength: 200 });
const terms = Type.Array(Type.String());
const orNull = <T extends typeof text | typeof terms>(type: T) => Type.Optional(Type.Union([type, Type.Null()]));
const transcribeSchema = Type.Object({
  name: orNull(text),
  language: orNull(text),
  context: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  transcript_names: orNull(terms),
  transcript_terms: orNull(terms),
});

/** Wishes of a client for the next utterance. */
export interface TranscribeRequest {
  /** ISO 639; null for language detection. */
  readonly language: string | null;
  /** Names and terms to expect, on one line; null for none. */
  readonly prompt: string | null;
  /** Data of the client that is returned with the transcript; null for none. */
  readonly context: Readonly<Record<string, unknown>> | null;
}

/** The request of an utterance without the event `transcribe`. */
export const defaultRequest: TranscribeRequest = { language: null, prompt: null, context: null };

/** @throws {WyomingError} `bad_request`, `unknown_model`, `unknown_language` */
export function readTranscribe({ data }: WyomingEvent, model: OfferedModel): TranscribeRequest {
  if (!Value.Check(transcribeSchema, data)) throw new WyomingError("bad_request", "transcribe has an invalid field.");
  if (data.name != null && data.name !== "" && data.name !== model.id) {
    throw new WyomingError("unknown_model", "There is no model of this name; describe lists the one in use.");
  }
  return { language: languageOf(data.language ?? "", model), prompt: promptOf(data), context: data.context ?? null };
}

/** Returns the model's language for a code such as `en`, `en-US` or `pt_BR`; null for language detection. */
function languageOf(sent: string, { languages }: OfferedModel): string | null {
  const code = sent.trim().toLowerCase();
  if (code === "" || code === "auto") return null;
  const primary = code.split(/[-_]/)[0] ?? "";
  const known = languages.find((each) => each === code) ?? languages.find((each) => each === primary);
  if (known === undefined) throw new WyomingError("unknown_language", "The model does not know this language.");
  return known;
}

/**
 * Returns as many of the terms as a prompt holds, the names first: a client may send the names of all its devices. A
 * term without letters and digits, or with control characters, is left out.
 */
function promptOf(data: Static<typeof transcribeSchema>): string | null {
  const fitting: string[] = [];
  let characters = 0;
  for (const term of new Set([...(data.transcript_names ?? []), ...(data.transcript_terms ?? [])])) {
    // A comma and a space follow it. Terms that are left out count, too, which bounds the work.
    characters += term.length + 2;
    if (characters > MAX_PROMPT_CHARACTERS) break;
    const normalized = normalizeTerms(term);
    if (normalized.ok) fitting.push(normalized.terms);
  }
  return fitting.length === 0 ? null : joinTerms(fitting);
}

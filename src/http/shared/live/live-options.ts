import { type Static, Type } from "@sinclair/typebox";
import { liveMessages } from "../../../api-contract/index.ts";
import type { LiveOptions, TurnRules } from "../../../live/index.ts";
import { cleanText, HintError, parseHints } from "../../../text/index.ts";
import { invalidField } from "../errors.ts";

const { turnFields } = liveMessages;

/** The query of a live session. */
export const liveQuery = Type.Object({
  sample_rate: Type.Optional(
    Type.Integer({ minimum: 8000, maximum: 48_000, description: "a whole number from 8000 to 48000" }),
  ),
  encoding: Type.Union(
    liveMessages.encodings.map((name) => Type.Literal(name)),
    { default: "pcm16", description: `one of ${liveMessages.encodings.join(", ")}` },
  ),
  language: Type.Optional(Type.String()),
  prompt: Type.Optional(Type.String()),
  keep: Type.Boolean({ default: true, description: "true or false" }),
  name: Type.Optional(Type.String()),
  turns: { ...turnFields.turns, default: "auto", description: "auto or manual" },
  threshold: Type.Optional(turnFields.threshold),
  padding_ms: Type.Optional(turnFields.padding_ms),
  silence_ms: Type.Optional(turnFields.silence_ms),
  /** Continues a session whose connection was lost. Its options stay. */
  resume: Type.Optional(
    Type.String({
      pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
      description: "the id of a session",
    }),
  ),
  from_segment: Type.Integer({
    minimum: 0,
    maximum: 9_999_999,
    default: 0,
    description: "the number of the first final segment that the client lacks",
  }),
});

export type LiveQuery = Static<typeof liveQuery>;

/** How speech detection ends turns unless a client says otherwise. */
export const DEFAULT_TURNS: TurnRules = { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 };

const MAX_NAME_CHARACTERS = 255;

/** Returns the options of a session in a query. @throws 422 under the name of a parameter that is not valid */
export function optionsIn(query: LiveQuery): LiveOptions {
  const { encoding, sample_rate, keep, name = "" } = query;
  const isTelephony = encoding === "mulaw" || encoding === "alaw";
  try {
    return {
      format: { encoding, sampleRate: sample_rate ?? (isTelephony ? 8000 : 16_000) },
      language: languageIn(query.language ?? null),
      prompt: promptIn(query.prompt ?? null),
      turns: turnsIn(query, DEFAULT_TURNS),
      keep,
      name: Array.from(cleanText(name)).slice(0, MAX_NAME_CHARACTERS).join("") || null,
    };
  } catch (error) {
    throw error instanceof HintError ? invalidField(error.hint, error.message) : error;
  }
}

type Update = Extract<liveMessages.ClientMessage, { type: "update" }>;

/**
 * Returns the options that a message changes.
 * @throws {HintError} for a prompt that is not valid
 */
export function changesIn(update: Update, current: LiveOptions): Partial<Omit<LiveOptions, "keep" | "format">> {
  const { language, prompt, turns, threshold, padding_ms, silence_ms } = update;
  const hasRules = [turns, threshold, padding_ms, silence_ms].some((each) => each !== undefined);
  const isManual = turns === undefined ? current.turns === null : turns === "manual";
  return {
    ...(language === undefined ? {} : { language: languageIn(language) }),
    ...(prompt === undefined ? {} : { prompt: promptIn(prompt) }),
    ...(hasRules
      ? { turns: turnsIn({ ...update, turns: isManual ? "manual" : "auto" }, current.turns ?? DEFAULT_TURNS) }
      : {}),
  };
}

function turnsIn(fields: Partial<liveMessages.TurnFields>, before: TurnRules): TurnRules | null {
  if (fields.turns === "manual") return null;
  const { threshold = before.threshold, padding_ms, silence_ms } = fields;
  return {
    threshold,
    paddingSeconds: padding_ms === undefined ? before.paddingSeconds : padding_ms / 1000,
    silenceSeconds: silence_ms === undefined ? before.silenceSeconds : silence_ms / 1000,
  };
}

/** Returns the code of a language in lower case; null for language detection. The session knows which ones exist. */
function languageIn(text: string | null): string | null {
  const code = (text ?? "").trim().toLowerCase();
  return code === "" || code === "auto" ? null : code;
}

function promptIn(text: string | null): string | null {
  return parseHints({ prompt: text ?? undefined }).prompt;
}

import { type Static, Type } from "@sinclair/typebox";
import { MAX_PROMPT_CHARACTERS, normalizeTerms } from "../../text/index.ts";
import type { FormParts, ReceivedUpload } from "../shared/upload/index.ts";
import { invalidParam } from "./openai-error.ts";

const responseFormatSchema = Type.Union(
  (["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] as const).map((format) => Type.Literal(format)),
);
export type ResponseFormat = Static<typeof responseFormatSchema>;

/** The parts of a transcription's form, for its documentation. They are read as a stream and validated below. */
export const openAiForm = Type.Object({
  file: Type.String({
    format: "binary",
    description: "One recording, audio or video, of any format that ffmpeg reads.",
  }),
  model: Type.String({
    description:
      "Id of `GET /v1/models`. A name that begins with `gpt-` or `whisper-` and is no id means the model in use.",
    example: "whisper-1",
  }),
  language: Type.Optional(
    Type.String({
      description: "ISO code, Whisper's code, or English name. If omitted or empty, the language is detected.",
      example: "de",
    }),
  ),
  prompt: Type.Optional(
    Type.String({
      description: `Names and terms of the recording. Of a longer text the last ${MAX_PROMPT_CHARACTERS} characters count.`,
      example: "Zau al-Makan, Helstone, Leverrier",
    }),
  ),
  response_format: Type.Optional(
    Type.Union([responseFormatSchema, Type.Null()], { description: "Form of the answer; `json` by default." }),
  ),
  stream: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null()], {
      description: "Whether the text is sent as it is recognized, as server-sent events.",
    }),
  ),
  // Lists of texts are documented as texts: a form cannot tell a text from a list of one.
  "languages[]": Type.Optional(
    Type.String({
      description: "As `language`. May be repeated: if it names several languages, the language is detected.",
    }),
  ),
  "keywords[]": Type.Optional(Type.String({ description: "Used like `prompt`, together with it. May be repeated." })),
  temperature: Type.Optional(Type.String({ description: "Accepted, without effect." })),
  chunking_strategy: Type.Optional(Type.String({ description: "Accepted, without effect." })),
  "timestamp_granularities[]": Type.Optional(
    Type.Array(Type.Union([Type.Literal("word"), Type.Literal("segment")]), {
      description: "With `word`, `verbose_json` also has the words.",
    }),
  ),
  "include[]": Type.Optional(
    Type.Array(Type.Literal("logprobs"), {
      description: "With `json`, also as a stream: the log probabilities of the words.",
    }),
  ),
});

/** Control characters, direction overrides and the like, which normalizeTerms refuses. */
const UNREADABLE_CHARACTERS = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Cn}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The names under which clients send a list: with brackets, with indexes, or repeated. */
const listNames = (name: string) => [name, `${name}[]`, ...[0, 1, 2, 3].map((index) => `${name}[${index}]`)];
const granularityNames = listNames("timestamp_granularities");
const includeNames = listNames("include");
const languageNames = listNames("languages");
const keywordNames = listNames("keywords");

/** The text parts of a transcription's form that have a meaning. */
export const openAiParts: FormParts = {
  once: ["model", "language", "prompt", "response_format", "stream"],
  repeated: [...granularityNames, ...includeNames, ...languageNames, ...keywordNames],
};

/** The name of a language, and the part of the form that has it. */
interface SentLanguage {
  readonly param: "language" | "languages";
  readonly name: string;
}

/** The text that a client asks for: a transcript, or a translation to English. */
export type CompatTask = "transcribe" | "translate";

/** A transcription or translation that a client asks for, besides its file. The model and the language are names as sent. */
export interface TranscriptionOrder {
  readonly task: CompatTask;
  readonly model: string;
  /** The possible languages; empty for language detection. */
  readonly languages: readonly SentLanguage[];
  readonly prompt: string | null;
  readonly format: ResponseFormat;
  readonly isStream: boolean;
  readonly hasWords: boolean;
  readonly hasLogprobs: boolean;
  /** Whether the answer names the languages, as that of gpt-transcribe does. */
  readonly hasLanguages: boolean;
}

/** The model that answers `json` with the languages of the recording, and its snapshots. */
const NAMES_LANGUAGES = /^gpt-transcribe(?:-|$)/;

/**
 * Reads the text parts of a transcription's or translation's form.
 * @throws {OpenAiError} 400 with the part that is not valid
 */
export function readOrder(
  { fields, lists }: Pick<ReceivedUpload, "fields" | "lists">,
  task: CompatTask,
): TranscriptionOrder {
  const model = sentIn(fields.model);
  if (model === "") throw invalidParam("model", "Send the name of a model, e.g. whisper-1.");
  const format = formatOf(fields.response_format);
  const isStream = flagOf("stream", sentIn(fields.stream));
  if (isStream && (format === "srt" || format === "vtt")) {
    throw invalidParam("stream", `A transcript in the format ${format} can't be streamed.`);
  }
  const granularities = listOf(lists, granularityNames, "timestamp_granularities", ["word", "segment"]);
  const hasLogprobs = listOf(lists, includeNames, "include", ["logprobs"]).length > 0;
  if (hasLogprobs && format !== "json") throw invalidParam("include", "logprobs are part of the format json only.");
  return {
    task,
    model,
    languages: [
      ...languagesOf("language", [fields.language]),
      ...languagesOf("languages", valuesOf(lists, languageNames).flatMap(splitList)),
    ],
    prompt: promptOf([fields.prompt ?? "", ...valuesOf(lists, keywordNames)].join("\n")),
    format,
    isStream,
    hasWords: granularities.includes("word"),
    hasLogprobs,
    hasLanguages: NAMES_LANGUAGES.test(model),
  };
}

function languagesOf(param: SentLanguage["param"], texts: readonly (string | undefined)[]): SentLanguage[] {
  const names = texts.map((text) => sentIn(text)).filter((name) => name !== "" && name.toLowerCase() !== "auto");
  return names.map((name) => ({ param, name }));
}

/** Returns a field's text, empty if it is not set. In a form, clients write null as a word. */
function sentIn(text: string | undefined): string {
  const sent = text?.trim() ?? "";
  return sent.toLowerCase() === "null" ? "" : sent;
}

function formatOf(text: string | undefined): ResponseFormat {
  const sent = sentIn(text) || "json";
  const format = responseFormatSchema.anyOf.find((choice) => choice.const === sent)?.const;
  if (format !== undefined) return format;
  const names = responseFormatSchema.anyOf.map((choice) => choice.const).join(", ");
  throw invalidParam("response_format", `It must be one of ${names}.`);
}

/** Returns a boolean, which clients write in several ways. */
export function flagOf(param: string, text: string | undefined): boolean {
  const sent = text?.trim().toLowerCase() ?? "";
  if (["", "false", "0"].includes(sent)) return false;
  if (["true", "1"].includes(sent)) return true;
  throw invalidParam(param, "It must be true or false.");
}

function listOf(
  lists: ReceivedUpload["lists"],
  names: readonly string[],
  param: string,
  allowed: readonly string[],
): string[] {
  const values = valuesOf(lists, names).flatMap(splitList);
  if (values.every((value) => allowed.includes(value))) return values;
  throw invalidParam(param, `Its values must be ${allowed.join(" or ")}.`);
}

/** Returns the values of a list that is sent under one of several names. */
function valuesOf(lists: ReceivedUpload["lists"], names: readonly string[]): string[] {
  return names.flatMap((name) => lists[name] ?? []);
}

/** Returns the values of a list that is written with commas. */
function splitList(text: string): string[] {
  return text
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

/**
 * Returns the terms of a prompt. Clients often send the text before the recording, so a prompt is never refused: its end
 * counts, and a prompt without words is none.
 */
export function promptOf(text: string | undefined): string | null {
  const end = Array.from(text ?? "")
    .slice(-MAX_PROMPT_CHARACTERS)
    .join("");
  const normalized = normalizeTerms(end.replace(UNREADABLE_CHARACTERS, " "));
  return normalized.ok ? normalized.terms : null;
}

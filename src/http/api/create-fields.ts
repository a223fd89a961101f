import { Type } from "@sinclair/typebox";
import type { Source } from "../../intake/index.ts";
import type { Language } from "../../speech/index.ts";
import { HintError, type Hints, MAX_PROMPT_CHARACTERS, MAX_SPEAKERS, parseHints } from "../../text/index.ts";
import { ApiError, invalidField } from "../shared/errors.ts";
import type { FormParts, ReceivedUpload, TextFields } from "../shared/upload/index.ts";

const speakers = (description: string, example: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SPEAKERS, description, example }));

/** The parts of a create's form, for its documentation. They are read as a stream, see upload/, and validated below. */
export const createForm = Type.Object({
  file: Type.Optional(
    Type.String({
      format: "binary",
      description: "One recording, audio or video, of any format that ffmpeg reads. Either this or `url`.",
    }),
  ),
  url: Type.Optional(
    Type.String({
      maxLength: 2048,
      format: "uri",
      description:
        "An http or https link to one recording, without credentials, at a public address. Either this or `file`.",
      example: "https://media.example.org/interview.mp3",
    }),
  ),
  language: Type.Optional(
    Type.String({
      description: "Code of `GET /languages`, in upper or lower case. If omitted, the language is detected.",
      example: "de",
    }),
  ),
  task: Type.Optional(
    Type.Union([Type.Literal("transcribe"), Type.Literal("translate")], {
      description:
        "With `translate`, the speech is translated to English as well; `GET /transcriptions/{id}/translation` has the " +
        "result. The model in use must be able to translate.",
      example: "translate",
    }),
  ),
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
});

/** The text parts of a create's form. */
export const createParts: FormParts = { once: Object.keys(createForm.properties).filter((name) => name !== "file") };

/** Checks the text of a link without fetching it. */
export type CheckUrl = (
  text: string,
) => { ok: true; url: URL } | { ok: false; kind: "invalid" | "playlist"; reason: string };

/**
 * Returns the recording to transcribe.
 * @throws 422 under `url` when there is neither or both, or the link is not valid; 422 for a playlist
 */
export function sourceOf({ fields, file }: ReceivedUpload, checkUrl: CheckUrl, fetchEnabled: boolean): Source {
  if (fields.url !== undefined && file !== null) throw invalidField("url", "Send either a file or a url, not both.");
  if (file !== null) return { type: "file", file };
  if (fields.url === undefined) throw invalidField("url", "Send a recording: a file, or a url.");
  if (!fetchEnabled) throw invalidField("url", "This server does not fetch links; send the file itself.");
  const checked = checkUrl(fields.url);
  if (checked.ok) return { type: "url", url: checked.url.href };
  if (checked.kind === "playlist") throw new ApiError("playlist_not_acceptable", checked.reason);
  throw invalidField("url", checked.reason);
}

/**
 * Returns the language of a code; null without a code.
 * @throws 422 under `language` for a code that the model does not know
 */
export function languageOf(languages: readonly Language[], code: string | undefined): Language | null {
  if (code === undefined) return null;
  const language = languages.find((candidate) => candidate.code === code.trim().toLowerCase());
  if (language === undefined) throw invalidField("language", "This is not a language code of GET /languages.");
  return language;
}

/**
 * Returns whether a create's form asks for a translation. An empty task asks for a transcript.
 * @param refusal returns why the model in use cannot translate; null if it can
 * @throws 422 under `task`
 */
export function isTranslated(task: string | undefined, refusal: () => string | null): boolean {
  if (task === undefined || task === "" || task === "transcribe") return false;
  if (task !== "translate") throw invalidField("task", "It must be transcribe or translate.");
  const reason = refusal();
  if (reason !== null) throw invalidField("task", reason);
  return true;
}

/**
 * Returns the hints in a create's form.
 * @throws 422 under the name of a part that is not valid
 */
export function hintsOf(fields: TextFields): Hints {
  try {
    return parseHints(fields);
  } catch (error) {
    throw error instanceof HintError ? invalidField(error.hint, error.message) : error;
  }
}

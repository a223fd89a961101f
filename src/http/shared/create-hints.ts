import { Type } from "@sinclair/typebox";
import { HintError, type Hints, MAX_PROMPT_CHARACTERS, MAX_SPEAKERS, parseHints } from "../../text/index.ts";
import { invalidField } from "./errors.ts";
import type { TextFields } from "./upload/index.ts";

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

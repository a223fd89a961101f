import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readSmallBody } from "../../shared/small-body.ts";
import { invalidParam, OpenAiError } from "../openai-error.ts";
import { invalidField } from "./invalid-field.ts";

/** Maximum size of a body. The longest that clients send are some hundred keywords. */
const MAX_BYTES = 64 * 1024;
/** Maximum time to receive a whole body; clients send it at once. */
const MAX_MILLISECONDS = 30_000;

/**
 * Reads a small body in JSON. No body is an empty object.
 * @throws {OpenAiError} 400 if it is not JSON or does not match the schema, 408 if it is too slow, 413 if it is too long
 */
export async function readJsonBody<Schema extends TSchema>(
  request: Request,
  schema: Schema,
  maxMilliseconds = MAX_MILLISECONDS,
): Promise<Static<Schema>> {
  const text = await readText(request, maxMilliseconds);
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    throw new OpenAiError("bad_request", "The body is not JSON.");
  }
  if (Value.Check(schema, value)) return value;
  const param = invalidField(schema, value);
  throw param === null
    ? new OpenAiError("bad_request", "The body is not valid.")
    : invalidParam(param, `${param} is not valid.`);
}

function readText(request: Request, maxMilliseconds: number): Promise<string> {
  return readSmallBody(request, { maxBytes: MAX_BYTES, maxMilliseconds }, (flaw) =>
    flaw === "too_slow"
      ? new OpenAiError("bad_request", "The body did not arrive in time.", { status: 408 })
      : new OpenAiError("file_too_large", "The body is too long."),
  );
}

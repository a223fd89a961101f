import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readSmallBody } from "../../http/index.ts";
import { ConsoleError } from "./errors.ts";
import { admitAgain } from "./request-session.ts";

/** Maximum size of a body. The longest that the page sends is the text of a segment, 20,000 characters. */
const MAX_BYTES = 128 * 1024;
/** Maximum time to receive a whole body; the page sends it at once. */
const MAX_MILLISECONDS = 30_000;

/**
 * Reads a small JSON body. It stops reading a body that is too long or too slow. A slow one takes long enough for the
 * person to lose the access, so the request is admitted again.
 * @throws {ConsoleError} 401 or 403 as `admit`; 400 if it is not JSON, 408 if too slow, 413 if too long, 422 if it does not match the schema
 */
export async function readBody<T extends TSchema>(
  request: Request,
  schema: T,
  maxMilliseconds = MAX_MILLISECONDS,
): Promise<Static<T>> {
  const text = await readText(request, maxMilliseconds);
  admitAgain(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConsoleError("bad_request", "The request's body is not JSON.");
  }
  if (Value.Check(schema, value)) return value;
  const field = Value.Errors(schema, value).First()?.path.split("/")[1] ?? "";
  throw new ConsoleError("validation_failed", field === "" ? "The request is not valid." : `${field} is not valid.`, {
    ...(field === "" ? {} : { field }),
  });
}

/**
 * Reads a small body as text.
 * @throws {ConsoleError} 408 if it is too slow, 413 if it is too long
 */
export function readText(request: Request, maxMilliseconds = MAX_MILLISECONDS): Promise<string> {
  return readSmallBody(request, { maxBytes: MAX_BYTES, maxMilliseconds }, (flaw) =>
    flaw === "too_slow"
      ? new ConsoleError("too_slow", "The request's body did not arrive in time.")
      : new ConsoleError("too_large", "The request's body is too long."),
  );
}

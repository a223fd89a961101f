import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ConsoleError } from "./errors.ts";

/** The longest body that the page sends, speakers' names, has a few thousand characters. */
const mostBytes = 64 * 1024;

/**
 * Reads a small JSON body; one that is too long is not read to its end.
 * @throws {ConsoleError} 400 for what is no JSON, 413 for what is too long, 422 for what does not fit the schema
 */
export async function readBody<T extends TSchema>(request: Request, schema: T): Promise<Static<T>> {
  const text = await readText(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConsoleError("bad_request", "The request's body is no JSON.");
  }
  if (Value.Check(schema, value)) return value;
  const field = Value.Errors(schema, value).First()?.path.split("/")[1] ?? "";
  throw new ConsoleError("validation_failed", field === "" ? "The request is not valid." : `${field} is not valid.`, {
    ...(field === "" ? {} : { field }),
  });
}

async function readText(request: Request): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > mostBytes) throw new ConsoleError("too_large", "The request is longer than the console's ever are.");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

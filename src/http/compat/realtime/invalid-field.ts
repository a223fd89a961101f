import type { TSchema } from "@sinclair/typebox";
import { Value, type ValueError } from "@sinclair/typebox/value";

/** Returns the first field of a value that does not match a schema, such as `session.audio.input`; null for the value itself. */
export function invalidField(schema: TSchema, value: unknown): string | null {
  const path = pathOf(Value.Errors(schema, value).First());
  return path === "" ? null : path.slice(1).replaceAll("/", ".");
}

/** Returns the path of an error; that of its deepest cause if a field has one of several forms. */
function pathOf(error: ValueError | undefined): string {
  if (error === undefined) return "";
  const causes = error.errors.map((each) => each.First());
  const deeper = causes.find((each) => each !== undefined && each.path.length > error.path.length);
  return deeper === undefined ? error.path : pathOf(deeper);
}

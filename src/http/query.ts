import { Kind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ApiError } from "./errors.ts";

/**
 * Reads a request's query by its schema, whose properties are whole numbers and texts. A number is decimal digits and
 * nothing else (no sign, space, exponent or hexadecimal: Elysia's own numbers take them all, and lose the parameter's name
 * where one is out of its range); a parameter that is not of the schema is ignored.
 * @throws 422 with every parameter that is out of its range or comes twice, each under its name
 */
export function readQuery<T extends TObject>(request: Request, schema: T): Static<T> {
  const given = new URL(request.url).searchParams;
  const values: Record<string, unknown> = {};
  const errors: Record<string, string[]> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const texts = given.getAll(name);
    const [text] = texts;
    const value = text === undefined ? property.default : parse(text, property);
    if (texts.length > 1) errors[name] = ["It must come once."];
    else if (text !== undefined && !Value.Check(property, value)) {
      errors[name] = [property.description === undefined ? "It is not valid." : `It must be ${property.description}.`];
    } else if (value !== undefined) values[name] = value;
  }
  if (Object.keys(errors).length > 0) {
    throw new ApiError("validation_failed", "The request is not valid.", { errors });
  }
  return Value.Decode(schema, values);
}

function parse(text: string, schema: TSchema): unknown {
  return schema[Kind] === "Integer" ? (/^\d+$/.test(text) ? Number(text) : undefined) : text;
}

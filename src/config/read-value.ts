import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { kindOf, type SettingEntry } from "./entries.ts";
import { withoutPassword } from "./fault.ts";
import { readQuantity, unitExamples, writeQuantity } from "./units.ts";

/** A setting's value, or a message with the fault and the allowed values. */
type ReadValue = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

/** Reads a value in the form of the environment and flags; lists are separated by commas. */
export function readText(entry: SettingEntry, text: string): ReadValue {
  return readValue(entry, parsed(entry, text), JSON.stringify(text));
}

/** Returns the allowed values of a setting, in words that follow "it must be". */
export function expected(entry: SettingEntry): string {
  const { schema, unit } = entry;
  const { minimum, maximum } = schema;
  switch (kindOf(schema)) {
    case "Integer":
      if (unit === null) return `a whole number from ${minimum} to ${maximum}`;
      return `a number of ${unit} or a text with a unit (${unitExamples[unit]}), from ${writeQuantity(minimum, unit)} to ${writeQuantity(maximum, unit)}`;
    case "Boolean":
      return "true or false";
    case "Array":
      return "a list of texts";
    case "Union":
      return `one of ${choices(schema).join(", ")}`;
    default:
      return entry.namesPath === "always" ? "a path" : (schema.form ?? "a text");
  }
}

/** Returns the values of a choice. */
export function choices(schema: TSchema): string[] {
  return (schema.anyOf as TSchema[]).map((choice) => String(choice.const));
}

/** Checks a value, e.g. of a settings file. @param source the value as its source writes it, for messages */
export function readValue(entry: SettingEntry, value: unknown, source: string): ReadValue {
  const refused = (why: string): ReadValue => ({
    ok: false,
    message: `${shown(source)} is not allowed${why}; it must be ${expected(entry)}`,
  });
  let number = value;
  if (entry.unit !== null && typeof value === "string") {
    const quantity = readQuantity(value, entry.unit);
    if (!quantity.ok) return refused(`: ${quantity.reason}`);
    number = quantity.value;
  }
  if (!Value.Check(entry.schema, number)) return refused("");
  const texts = Array.isArray(number) ? number : [number];
  if (texts.some((text) => typeof text === "string" && /\p{Cc}/u.test(text)))
    return refused(": it has control characters");
  return { ok: true, value: number };
}

function parsed(entry: SettingEntry, text: string): unknown {
  switch (kindOf(entry.schema)) {
    case "Integer":
      return entry.unit === null && /^\s*-?\d+\s*$/.test(text) ? Number(text) : text;
    case "Boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "Array":
      return text === "" ? [] : text.split(",").map((item) => item.trim());
    default:
      return text;
  }
}

/** Returns a value for a message: on one line, at most 60 characters, and without passwords in links. */
function shown(source: string): string {
  const line = withoutPassword(source.replace(/\s+/g, " "));
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

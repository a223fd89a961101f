import { Kind, OptionalKind, type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toSegment } from "../../api-contract/index.ts";
import { values } from "../../database/index.ts";
import { type Status, statusSchema, tags } from "../../recordings/index.ts";
import { ApiError, invalidField } from "./errors.ts";

const cursor = Type.Optional(
  Type.String({
    description: "next_cursor of the previous page",
    documented: {
      description: "The unchanged `next_cursor` of the previous page; omitted for the first page. It is opaque.",
    },
  }),
);

/** Returns the parameter `limit` of a list in pages. */
export function pageSize(options: { readonly maximum: number; readonly default: number }) {
  return Type.Integer({
    minimum: 1,
    ...options,
    description: `a whole number from 1 to ${options.maximum}`,
    documented: { description: "Maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB." },
  });
}

function time(meaning: string) {
  return Type.String({
    description: "an ISO 8601 time",
    documented: {
      description: `${meaning} An ISO 8601 time. A date without a time means its first moment; without an offset it is UTC.`,
      format: "date-time",
      example: "2026-11-21T08:00:00Z",
    },
  });
}

/** One status, or several separated by commas. */
export const statusList = Type.String({
  pattern: `^(${values.statuses.join("|")})(,(${values.statuses.join("|")}))*$`,
  description: `one of ${values.statuses.join(", ")}, or several separated by commas`,
  documented: {
    description: `Only recordings with this status: one of \`${values.statuses.join("`, `")}\`, or several separated by commas.`,
    example: "completed,failed",
  },
});

export const listQuery = Type.Object({
  limit: pageSize({ maximum: 100, default: 20 }),
  cursor,
  status: Type.Optional(statusList),
  created_after: Type.Optional(time("Only recordings created later than this.")),
  created_before: Type.Optional(time("Only recordings created earlier than this.")),
});

const tag = Type.Optional(
  Type.String({
    maxLength: 200,
    description: "a tag",
    documented: { description: "Only recordings with this tag.", example: "board" },
  }),
);

/** A parameter of the list that the contract of version 1 does not have. */
export const tagQuery = Type.Object({ tag });

/** Returns the tag of a query in its stored form. @throws 422 under `tag` */
export function parseTag(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : tags.parseTag(text);
  } catch (error) {
    throw error instanceof tags.TagError ? invalidField("tag", error.message) : error;
  }
}

export const searchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "1 to 200 characters",
    documented: {
      description:
        "Words that one segment has, in any order, or the recording's name. Words in quotation marks follow each other. The " +
        "last word may be the beginning of one.",
      example: "annual budget",
    },
  }),
  tag,
  status: Type.Optional(statusList),
  limit: pageSize({ maximum: 100, default: 20 }),
  cursor,
});

export const segmentQuery = Type.Object({
  limit: pageSize({ maximum: 1000, default: 100 }),
  cursor,
  words: Type.Boolean({
    default: false,
    description: "true or false",
    documented: { description: "Whether each segment also has its words with their times." },
  }),
});

/** Returns the query of a list in pages. */
export function pageQuery(maximum: number, byDefault: number) {
  return Type.Object({ limit: pageSize({ maximum, default: byDefault }), cursor });
}

/** Returns the statuses in a query's comma-separated list, which its schema has validated. */
export function parseStatuses(text: string | undefined): Status[] | undefined {
  return text?.split(",").filter((status) => Value.Check(statusSchema, status));
}

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Parses an ISO 8601 date or time. Without an offset it is UTC.
 * @returns milliseconds since the epoch
 * @throws 422 under the parameter's name
 */
export function parseTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const zoned = /T.*(Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`;
  const time = isoTime.test(text) && isDate(text.slice(0, 10)) ? Date.parse(zoned) : Number.NaN;
  if (Number.isNaN(time)) throw invalidField(name, "It must be an ISO 8601 time, such as 2026-11-21T08:00:00Z.");
  return time;
}

/** Returns whether a day exists. `Date` parses the 30th of February as the 2nd of March. */
function isDate(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/**
 * Reads a request's query according to its schema, whose properties are numbers, booleans and strings. An integer
 * consists of decimal digits only: no sign, space, exponent or hexadecimal. Another number may have a fraction. Elysia's
 * own numbers accept all of these, and lose the parameter's name when one is out of range. Parameters that are not in the
 * schema are ignored.
 * @throws 422 with every parameter that is missing, not valid or repeated, each under its name
 */
export function readQuery<T extends TObject>(request: Request, schema: T): Static<T> {
  const given = new URL(request.url).searchParams;
  const values: Record<string, unknown> = {};
  const errors: Record<string, string[]> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const texts = given.getAll(name);
    const [text] = texts;
    const value = text === undefined ? property.default : parse(text, property);
    if (texts.length > 1) errors[name] = ["It must occur once."];
    else if (value === undefined && !isOptional(property)) errors[name] = ["It is required."];
    else if (text !== undefined && !Value.Check(property, value)) {
      errors[name] = [property.description === undefined ? "It is not valid." : `It must be ${property.description}.`];
    } else if (value !== undefined) values[name] = value;
  }
  if (Object.keys(errors).length > 0) {
    throw new ApiError("validation_failed", "The request is not valid.", { errors });
  }
  return Value.Decode(schema, values);
}

/** Returns whether a property of an object may be left out. */
export function isOptional(schema: TSchema): boolean {
  return schema[OptionalKind] === "Optional" || schema.default !== undefined;
}

function parse(text: string, schema: TSchema): unknown {
  if (schema[Kind] === "Number") return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
  if (schema[Kind] === "Integer") return /^\d+$/.test(text) ? Number(text) : undefined;
  if (schema[Kind] === "Boolean") return { true: true, false: false }[text];
  return text;
}

/**
 * Encodes the position of a page, which is opaque to clients.
 * @param kind a letter for the list
 * @param position the last entry of the previous page, or the first of this one
 */
export function encodeCursor(kind: string, position: string): string {
  return Buffer.from(kind + position).toString("base64url");
}

/**
 * Decodes a cursor.
 * @param isPosition returns whether a text has the form of a position
 * @returns the position; null without a cursor
 * @throws 422 under `cursor`
 */
export function decodeCursor(
  kind: string,
  isPosition: (text: string) => boolean,
  cursor: string | undefined,
): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString();
  const position = text.slice(1);
  if (text[0] === kind && isPosition(position) && encodeCursor(kind, position) === cursor) return position;
  throw invalidField("cursor", "It is not a cursor of this list; send next_cursor of the previous page unchanged.");
}

/** Size of a page's entries in JSON. The last entry may exceed it only if it is the only one. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024;

/**
 * Returns a page as clients get it.
 * @param kind the letter of the list, see `encodeCursor`
 * @param position of the next page; null for the last page
 */
export function toPage<Entry>(data: readonly Entry[], kind: string, position: string | number | null) {
  const next_cursor = position === null ? "" : encodeCursor(kind, String(position));
  return { data, has_more: position !== null, next_cursor };
}

const isSegmentIndex = (text: string) => /^(0|[1-9]\d{0,8})$/.test(text);

/** Returns a page of segments. @param segmentsFrom yields the segments from an index on */
export function segmentPage(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  segmentsFrom: (index: number) => Iterable<Parameters<typeof toSegment>[0]>,
) {
  const from = Number(decodeCursor("i", isSegmentIndex, cursor) ?? 0);
  const { entries, next } = PageFiller.fill(segmentsFrom(from), limit, toSegment);
  return toPage(entries, "i", next?.index ?? null);
}

/** A page of rows. */
interface Page<Row, Entry> {
  readonly entries: Entry[];
  /** The last row of the page; null if no row follows. */
  readonly last: Row | null;
  /** The first row behind the page; null if there is none. */
  readonly next: Row | null;
}

/** Fills a page: at most `limit` entries, and as many as MAX_PAGE_BYTES hold, but at least one. */
export class PageFiller<Entry> {
  readonly entries: Entry[] = [];
  readonly #limit: number;
  #bytes = 0;

  /** Returns a page of the first rows. Rows behind the page are not read, except for the first. */
  static fill<Row, Entry>(rows: Iterable<Row>, limit: number, show: (row: Row) => Entry): Page<Row, Entry> {
    const page = new PageFiller<Entry>(limit);
    let last: Row | null = null;
    for (const row of rows) {
      if (page.isFull || !page.add(show(row))) return { entries: page.entries, last, next: row };
      last = row;
    }
    return { entries: page.entries, last: null, next: null };
  }

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether the page has `limit` entries. */
  get isFull(): boolean {
    return this.entries.length >= this.#limit;
  }

  /** Adds an entry. Returns false, and adds nothing, if the page has no space for it. */
  add(entry: Entry): boolean {
    this.#bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (this.isFull || (this.#bytes > MAX_PAGE_BYTES && this.entries.length > 0)) return false;
    this.entries.push(entry);
    return true;
  }
}

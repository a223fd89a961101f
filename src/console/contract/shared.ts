import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { pageSize } from "../../http/index.ts";
import { stepSchema } from "../../recordings/index.ts";
import { withDefault } from "./route.ts";

/** Returns a schema that also accepts null, for a value that may be missing. The property itself is never left out. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** ISO 8601 with milliseconds and an explicit offset, as in the API. */
export const timeSchema = Type.String({ format: "date-time" });

export const countSchema = Type.Integer({ minimum: 0 });
export const bytesSchema = Type.Number({ minimum: 0 });
export const secondsSchema = Type.Number({ minimum: 0 });

/** An account or a workspace, reduced to its id and name. */
export const namedSchema = Type.Object({ id: Type.String(), name: Type.String() });
export type Named = Static<typeof namedSchema>;

/**
 * A range in a text, in UTF-16 code units as JavaScript counts them: from and to. `from < to`; ranges are sorted and do
 * not overlap.
 */
export const markSchema = Type.Tuple([countSchema, countSchema]);
export type Mark = Static<typeof markSchema>;

/** Progress of a recording. `indeterminate`: the current step cannot be measured. */
export const progressSchema = Type.Object({
  step: nullable(stepSchema),
  percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
  indeterminate: Type.Boolean(),
});

/** Body of an error response: a code for the page, and a message that the page shows unchanged. */
export const errorSchema = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    /** The part of the request that is not valid, if it is a single part. */
    field: nullable(Type.String()),
    /** Seconds until the next attempt may succeed, if known. */
    retry_after_seconds: nullable(countSchema),
  }),
});
export type ConsoleErrorBody = Static<typeof errorSchema>;

/** Searched words of a query. */
export const searchText = Type.String({ minLength: 1, maxLength: 200, description: "1 to 200 characters" });

/** Returns the maximum number of entries in a page. Very long ones are fewer: a page holds 2 MiB. */
export function limitSchema(maximum: number, standard: number) {
  return withDefault(pageSize({ maximum, default: standard }), standard);
}

/** Position of a page in a list: `next_cursor` of the previous page. */
export const cursorSchema = Type.Optional(Type.String({ maxLength: 200 }));

/** Number of the first entry of a page. */
export const afterSchema = withDefault(Type.Integer({ minimum: 0 }), 0);

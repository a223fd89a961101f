import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { stepSchema } from "../../recordings/index.ts";

/** A value that may be missing: null, never left out. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** ISO 8601 with milliseconds and the offset spelled out, as the API has it. */
export const timeSchema = Type.String({ format: "date-time" });

export const countSchema = Type.Integer({ minimum: 0 });
export const bytesSchema = Type.Number({ minimum: 0 });
export const secondsSchema = Type.Number({ minimum: 0 });

/** An account or a workspace, to be named. */
export const namedSchema = Type.Object({ id: Type.String(), name: Type.String() });
export type Named = Static<typeof namedSchema>;

/** From and to in a text, in UTF-16 code units as JavaScript counts them; `from < to`, in order, without overlap. */
export const markSchema = Type.Tuple([countSchema, countSchema]);
export type Mark = Static<typeof markSchema>;

/** How far a recording is. `indeterminate`: work goes on that can't be measured. */
export const progressSchema = Type.Object({
  step: nullable(stepSchema),
  percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
  indeterminate: Type.Boolean(),
});

/** The answer where something went wrong: a code for the page to go by, and a message for people to read as it is. */
export const errorSchema = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    /** Which part of what was sent it is about, where it is about one. */
    field: nullable(Type.String()),
    /** After how many seconds another try may pass, where that is known. */
    retry_after_seconds: nullable(countSchema),
  }),
});
export type ConsoleErrorBody = Static<typeof errorSchema>;

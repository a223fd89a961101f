import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "./shared.ts";

/** GET recordings/ID/processing: the choices for processing it again. */
export const processingOptionsSchema = Type.Object({
  /** The installed speech models, the one for new recordings first, with their languages by code. */
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      languages: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
    }),
  ),
  /** The language that was given when the recording was sent; null: it is detected. */
  language: nullable(Type.String()),
});
export type ProcessingOptions = Static<typeof processingOptionsSchema>;

/** POST recordings/ID/processing: processes a completed recording again. DELETE cancels that. */
export const processAgainSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 4096 }),
    /** Null: the language is detected. */
    language: nullable(Type.String({ minLength: 2, maxLength: 3 })),
  },
  { additionalProperties: false },
);
export type ProcessAgain = Static<typeof processAgainSchema>;

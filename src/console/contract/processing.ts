import { type Static, Type } from "@sinclair/typebox";
import { recordingSchema } from "./recordings.ts";
import type { Routes } from "./route.ts";
import { nullable } from "./shared.ts";

export const processingOptionsSchema = Type.Object({
  /** The installed speech models, the one for new recordings first, with their languages by code. */
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      languages: Type.Array(Type.Object({ code: Type.String(), name: Type.String() })),
      /** Whether it can translate to English. */
      translates: Type.Boolean(),
    }),
  ),
  /** The language that was given when the recording was sent; null: it is detected. */
  language: nullable(Type.String()),
  /** Whether it was translated to English before. */
  translate: Type.Boolean(),
});
export type ProcessingOptions = Static<typeof processingOptionsSchema>;

/** Processing a completed recording again. */
export const processingRoutes = {
  /** The choices for processing it again. */
  processingOptions: { at: "GET /recordings/:id/processing", access: "member", answer: processingOptionsSchema },
  processAgain: {
    at: "POST /recordings/:id/processing",
    access: "member",
    body: Type.Object(
      {
        model: Type.String({ minLength: 1, maxLength: 4096 }),
        /** Null: the language is detected. */
        language: nullable(Type.String({ minLength: 2, maxLength: 3 })),
        /** Whether it is translated to English as well; by default as before. */
        translate: Type.Optional(Type.Boolean()),
      },
      { additionalProperties: false },
    ),
    answer: recordingSchema,
  },
  cancelProcessing: { at: "DELETE /recordings/:id/processing", access: "member", answer: recordingSchema },
} as const satisfies Routes;

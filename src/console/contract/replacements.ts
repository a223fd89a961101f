import { type Static, Type } from "@sinclair/typebox";
import type { Routes } from "./route.ts";
import { countSchema, namedSchema, timeSchema } from "./shared.ts";

const entrySchema = Type.Object({
  id: Type.String(),
  /** The words as they are recognized, and the text that is written instead. */
  words: Type.String(),
  text: Type.String(),
  match_case: Type.Boolean(),
  created_by: Type.String(),
  created_at: timeSchema,
});
export type AccountReplacement = Static<typeof entrySchema>;

/** The words that an account's transcripts always write in one way, oldest first. */
export const replacementListSchema = Type.Object({
  account: namedSchema,
  /** Maximum number. */
  limit: countSchema,
  replacements: Type.Array(entrySchema),
});
export type ReplacementList = Static<typeof replacementListSchema>;

/** The replacements of accounts. */
export const replacementRoutes = {
  accountReplacements: { at: "GET /accounts/:id/replacements", access: "operator", answer: replacementListSchema },
  /** Adds an entry, or changes the one of the same words. */
  addReplacement: {
    at: "POST /accounts/:id/replacements",
    access: "operator",
    body: Type.Object(
      {
        words: Type.String({ minLength: 1, maxLength: 1000 }),
        text: Type.String({ minLength: 1, maxLength: 1000 }),
        match_case: Type.Boolean(),
      },
      { additionalProperties: false },
    ),
    answer: replacementListSchema,
    status: 201,
  },
  removeReplacement: { at: "DELETE /replacements/:id", access: "operator", answer: replacementListSchema },
} as const satisfies Routes;

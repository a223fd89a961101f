import { type Static, Type } from "@sinclair/typebox";
import { recordingSchema } from "./recordings.ts";
import type { Routes } from "./route.ts";
import { countSchema, namedSchema, secondsSchema, timeSchema } from "./shared.ts";

const letterSchema = Type.String({ pattern: "^[A-Z]{1,4}$" });

const voiceSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_by: Type.String(),
  created_at: timeSchema,
  /** Recordings by which the voice is compared, and the seconds of clean speech in them. */
  recordings: countSchema,
  seconds: secondsSchema,
  /** False for a voice of another embedding model, which is never proposed. */
  usable: Type.Boolean(),
});
export type Voice = Static<typeof voiceSchema>;

/** The voices of an account by name. */
export const voiceListSchema = Type.Object({
  account: namedSchema,
  /** Whether the account remembers voices; without that, it has none. */
  enabled: Type.Boolean(),
  voices: Type.Array(voiceSchema),
  /** Maximum number of voices. */
  limit: countSchema,
});
export type VoiceList = Static<typeof voiceListSchema>;

/** Voices that accounts remember. */
export const voiceRoutes = {
  /** Remembers the voice of a speaker. */
  rememberVoice: {
    at: "POST /recordings/:id/voices",
    access: "member",
    body: Type.Object({ speaker: letterSchema }, { additionalProperties: false }),
    answer: recordingSchema,
  },
  /** Confirms or rejects that a speaker is the proposed person. */
  answerProposal: {
    at: "POST /recordings/:id/proposals",
    access: "member",
    body: Type.Object(
      { speaker: letterSchema, voice: Type.String({ minLength: 1, maxLength: 64 }), confirmed: Type.Boolean() },
      { additionalProperties: false },
    ),
    answer: recordingSchema,
  },
  /** The voices of the account. */
  voices: { at: "GET /accounts/:id/voices", access: "operator", answer: voiceListSchema },
  renameVoice: {
    at: "PUT /voices/:id",
    access: "operator",
    body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false }),
    answer: voiceListSchema,
  },
  deleteVoice: { at: "DELETE /voices/:id", access: "operator", answer: voiceListSchema },
} as const satisfies Routes;

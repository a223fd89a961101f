import { type Static, Type } from "@sinclair/typebox";
import { countSchema, namedSchema, secondsSchema, timeSchema } from "./shared.ts";

/** The state of a speaker's voice, in an account that remembers voices. */
export const speakerVoiceSchema = Type.Union([
  /** There is too little clean speech, or the recording was processed before the account opted in. */
  Type.Object({ state: Type.Literal("unclear") }),
  /** The voice can be remembered as soon as the speaker has a name. */
  Type.Object({ state: Type.Literal("new") }),
  /** The speaker resembles a voice, and a user has to confirm that. */
  Type.Object({ state: Type.Literal("proposed"), ...namedSchema.properties }),
  /** The account remembers the voice. */
  Type.Object({ state: Type.Literal("remembered"), ...namedSchema.properties }),
]);
export type SpeakerVoice = Static<typeof speakerVoiceSchema>;

const letterSchema = Type.String({ pattern: "^[A-Z]{1,4}$" });

/** POST recordings/ID/voices: the speaker whose voice is to be remembered. The response is the recording. */
export const rememberSchema = Type.Object({ speaker: letterSchema }, { additionalProperties: false });
export type Remember = Static<typeof rememberSchema>;

/** POST recordings/ID/proposals: the answer of a user to a proposal. The response is the recording. */
export const proposalAnswerSchema = Type.Object(
  { speaker: letterSchema, voice: Type.String({ minLength: 1, maxLength: 64 }), confirmed: Type.Boolean() },
  { additionalProperties: false },
);
export type ProposalAnswer = Static<typeof proposalAnswerSchema>;

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

/** GET accounts/ID/voices, and the response to PUT and DELETE voices/ID: the voices of the account by name. */
export const voiceListSchema = Type.Object({
  account: namedSchema,
  /** Whether the account remembers voices; without that, it has none. */
  enabled: Type.Boolean(),
  voices: Type.Array(voiceSchema),
  /** Maximum number of voices. */
  limit: countSchema,
});
export type VoiceList = Static<typeof voiceListSchema>;

/** PUT voices/ID: the new name. */
export const renameVoiceSchema = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }) },
  { additionalProperties: false },
);
export type RenameVoice = Static<typeof renameVoiceSchema>;

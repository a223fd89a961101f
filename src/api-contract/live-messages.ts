import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { wordSchema } from "../exports/index.ts";

/** Encodings of sound that a live session takes. */
export const encodings = ["pcm16", "float32", "mulaw", "alaw"] as const;
/** Reasons why a live session ends. */
export const ends = [
  "client",
  "disconnected",
  "idle",
  "too_long",
  "audio_used_up",
  "access",
  "disk_full",
  "engine",
  "stopping",
] as const;

/** Codes of the message `error`. */
export const errorCodes = ["invalid_message", "invalid_option", "empty_turn", "ending", "unconfirmed"] as const;

const oneOf = <const Values extends readonly string[]>(values: Values, description: string) =>
  Type.Union(
    values.map((value) => Type.Literal<Values[number]>(value)),
    { description },
  );
const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const seconds = (description: string) => Type.Number({ minimum: 0, description });
const message = <Name extends string, Fields extends TProperties>(type: Name, fields: Fields, description: string) =>
  Type.Object({ type: Type.Literal(type), ...fields }, { description });

/** How speech detection ends turns, as the query and the message `update` have it. */
export const turnFields = {
  turns: oneOf(["auto", "manual"], "`auto`: speech detection ends turns. `manual`: only `commit` does."),
  threshold: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "a number from 0 to 1: the probability from which sound counts as speech",
  }),
  padding_ms: Type.Integer({
    minimum: 0,
    maximum: 5000,
    description: "a whole number from 0 to 5000: milliseconds before the detected start of a turn that belong to it",
  }),
  silence_ms: Type.Integer({
    minimum: 100,
    maximum: 10_000,
    description: "a whole number from 100 to 10000: milliseconds of silence that end a turn",
  }),
};

const update = Type.Object(
  {
    type: Type.Literal("update"),
    language: Type.Optional(nullable("ISO 639 code; null for language detection.")),
    prompt: Type.Optional(nullable("Names and terms to expect; null for none.")),
    turns: Type.Optional(turnFields.turns),
    threshold: Type.Optional(turnFields.threshold),
    padding_ms: Type.Optional(turnFields.padding_ms),
    silence_ms: Type.Optional(turnFields.silence_ms),
  },
  { description: "Changes options from the next turn on." },
);

/** Messages that a client may send as text frames. Binary frames are sound. */
export const clientMessageSchema = Type.Union([
  message("commit", {}, "Ends the turn with the sound so far."),
  message("clear", {}, "Drops the sound of the turn that has not been committed."),
  update,
  message(
    "speaker",
    {
      speaker: Type.String({ pattern: "^S[1-9]\\d{0,3}$", description: "Label of the speaker, e.g. `S1`." }),
      name: Type.String({ minLength: 1, maxLength: 100, description: "Name of the speaker." }),
    },
    "Names a speaker.",
  ),
  message("end", {}, "Ends the session once all sound so far has its words."),
]);

const words = Type.Array(wordSchema, { description: "The words in their order." });
const turn = Type.String({ description: "Id of the turn." });

const segment = Type.Object(
  {
    number: Type.Integer({ minimum: 0, description: "Position in the session, from 0." }),
    start: seconds("Seconds from the start of the session."),
    end: seconds("Seconds from the start of the session."),
    text: Type.String({ description: "The text, without surrounding space." }),
    speaker: nullable("Label of the speaker, such as `S1`; null while it is not known."),
    words,
  },
  { description: "Words that do not change any more." },
);

/** Messages that the server sends, all as text frames. */
export const serverMessageSchema = Type.Union([
  message(
    "session",
    {
      id: Type.String({ format: "uuid", description: "Id of the session, for `resume`." }),
      sample_rate: Type.Integer(),
      encoding: oneOf(encodings, "Encoding of the sound."),
      language: nullable("The pinned language; null for language detection."),
      keep: Type.Boolean({ description: "Whether the session becomes a recording." }),
      received_seconds: seconds("Duration of the sound that the server has. A client that resumes continues there."),
      segments: Type.Array(segment, { description: "After a resume: the final segments that the client lacks." }),
    },
    "The first message.",
  ),
  message("speech_started", { turn, seconds: seconds("Start of the speech.") }, "Somebody begins to speak."),
  message("speech_stopped", { turn, seconds: seconds("End of the speech.") }, "Nobody speaks any more."),
  message("committed", { turn, previous_turn: nullable("The turn before; null for the first.") }, "A turn has ended."),
  message("cleared", {}, "The sound of the turn was dropped."),
  message(
    "partial",
    { turn, text: Type.String(), words },
    "Words that may change. They follow the final ones of the turn, and replace the previous partial ones.",
  ),
  message("final", { turn, segment }, "Words of a turn that do not change any more."),
  message(
    "turn_completed",
    {
      turn,
      text: Type.String({ description: "The text of the turn." }),
      seconds: seconds("Duration of the turn's sound."),
      language: nullable("Language of the turn; null when nobody spoke."),
    },
    "All words of a turn are final.",
  ),
  message("turn_failed", { turn }, "A turn could not be recognized. The session continues."),
  message(
    "speakers",
    { speakers: Type.Array(Type.Object({ segment: Type.Integer({ minimum: 0 }), speaker: Type.String() })) },
    "Speakers of earlier segments, by the segments' numbers.",
  ),
  message(
    "error",
    {
      error: oneOf(errorCodes, "Error code, for programs."),
      message: Type.String({ minLength: 1, description: "The error in words, for people." }),
    },
    "A message was refused, or the standby is away (`unconfirmed`): `ended` waits for it. The session continues.",
  ),
  message(
    "ended",
    {
      reason: oneOf(ends, "Why the session has ended."),
      recording_id: nullable("Id of the recording that the session has become; null if it is not kept."),
    },
    "The last message.",
  ),
]);

export type ClientMessage = Static<typeof clientMessageSchema>;
export type ServerMessage = Static<typeof serverMessageSchema>;
export type Segment = Static<typeof segment>;
export type TurnFields = Static<TObject<typeof turnFields>>;

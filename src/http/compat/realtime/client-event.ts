import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { invalidField } from "./invalid-field.ts";
import { sessionFields } from "./session-fields.ts";

const event = <const Types extends readonly string[], Fields extends Record<string, TSchema>>(
  types: Types,
  fields: Fields,
) =>
  Type.Object({
    type: Type.Union(types.map((type) => Type.Literal<Types[number]>(type))),
    event_id: Type.Optional(Type.Union([Type.String({ maxLength: 512 }), Type.Null()])),
    ...fields,
  });

const schemas = {
  update: event(["session.update", "transcription_session.update"], { session: sessionFields }),
  append: event(["input_audio_buffer.append"], { audio: Type.String() }),
  buffer: event(["input_audio_buffer.commit", "input_audio_buffer.clear"], {}),
} as const;

type ClientEvent = Static<(typeof schemas)[keyof typeof schemas]>;

/** Events of sessions that converse. */
const conversation = /^(?:response|conversation|output_audio_buffer|mcp)\./;

/** Meaning of a message that a client sent. */
export type ReadEvent =
  | { readonly kind: "event"; readonly event: ClientEvent; readonly eventId: string | null }
  /** The message has no meaning here. */
  | {
      readonly kind: "refused";
      readonly eventId: string | null;
      readonly code: "invalid_json" | "invalid_value" | "unsupported_event";
      readonly param: string | null;
      readonly message: string;
    };

/** Maximum length of a message without its sound. */
export const MAX_TEXT_CHARACTERS = 64 * 1024;
/** Characters before the sound of an event. */
const MAX_HEAD_CHARACTERS = 4096;

/**
 * Reads a message of a client. JSON of many small values takes far more memory than its text, so the sound of a long
 * message is cut out before the rest is parsed.
 */
export function readClientEvent(text: string): ReadEvent {
  const { rest, audio } = cutAudio(text);
  const refused = (
    code: Extract<ReadEvent, { kind: "refused" }>["code"],
    message: string,
    { eventId = null, param = null }: { readonly eventId?: string | null; readonly param?: string | null } = {},
  ): ReadEvent => ({ kind: "refused", code, message, eventId, param });
  if (rest.length > MAX_TEXT_CHARACTERS) return refused("invalid_json", "The event is too long.");
  let value: unknown;
  try {
    value = JSON.parse(rest);
  } catch {
    return refused("invalid_json", "The event is not JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refused("invalid_json", "An event is a JSON object.");
  const eventId = "event_id" in value && typeof value.event_id === "string" ? value.event_id.slice(0, 512) : null;
  const type = "type" in value ? value.type : undefined;
  const schema = Object.values(schemas).find((each) => Value.Check(each.properties.type, type));
  if (schema === undefined) {
    if (typeof type === "string" && conversation.test(type)) {
      return refused("unsupported_event", "This server only transcribes, and takes no part in a conversation.", {
        eventId,
        param: "type",
      });
    }
    return refused("invalid_value", "This type of event is unknown.", { eventId, param: "type" });
  }
  if (!Value.Check(schema, value)) {
    const param = invalidField(schema, value);
    return refused("invalid_value", `${param ?? "The event"} is not valid.`, { eventId, param });
  }
  if (audio === null) return { kind: "event", event: value, eventId };
  if (value.type === "input_audio_buffer.append") return { kind: "event", event: { ...value, audio }, eventId };
  return refused("invalid_json", "The event is too long.", { eventId });
}

/** Returns a long message without its sound, and the sound; a short one whole. */
function cutAudio(text: string): { readonly rest: string; readonly audio: string | null } {
  if (text.length <= MAX_TEXT_CHARACTERS) return { rest: text, audio: null };
  const start = /"audio"\s*:\s*"/.exec(text.slice(0, MAX_HEAD_CHARACTERS));
  if (start === null) return { rest: text, audio: null };
  const from = start.index + start[0].length;
  const to = text.indexOf('"', from);
  if (to === -1) return { rest: text, audio: null };
  // Base64 has one character that some programs escape in JSON.
  return { rest: text.slice(0, from) + text.slice(to), audio: text.slice(from, to).replaceAll("\\/", "/") };
}

const base64 = /^[\w+/-]*={0,2}$/;

/** Decodes sound in base64; null if it is none. */
export function decodeAudio(text: string): Uint8Array | null {
  // The decoder skips other characters.
  return base64.test(text) ? Buffer.from(text, "base64") : null;
}

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { LiveOptions } from "../contract.ts";

const optional = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/** The options of a session that is kept, as its row has them. */
const storedOptionsSchema = Type.Object({
  format: Type.Object({
    encoding: Type.Union([Type.Literal("pcm16"), Type.Literal("float32"), Type.Literal("mulaw"), Type.Literal("alaw")]),
    sampleRate: Type.Integer({ minimum: 8000, maximum: 48_000 }),
  }),
  language: optional(Type.String({ pattern: "^[a-z]{2,3}$" })),
  prompt: optional(Type.String({ maxLength: 5000 })),
  turns: optional(
    Type.Object({
      threshold: Type.Number({ minimum: 0, maximum: 1 }),
      paddingSeconds: Type.Number({ minimum: 0, maximum: 10 }),
      silenceSeconds: Type.Number({ minimum: 0.05, maximum: 30 }),
    }),
  ),
  name: optional(Type.String({ minLength: 1, maxLength: 500 })),
});
type StoredOptions = Static<typeof storedOptionsSchema>;

/** Options of a session whose stored ones cannot be read: of another version of the program, or changed by others. */
const FALLBACK: StoredOptions = {
  format: { encoding: "pcm16", sampleRate: 16_000 },
  language: null,
  prompt: null,
  turns: null,
  name: null,
};

const namesSchema = Type.Record(
  Type.String({ pattern: "^S[1-9][0-9]{0,2}$" }),
  Type.String({ minLength: 1, maxLength: 100 }),
);

export function formatOptions({ format, language, prompt, turns, name }: LiveOptions): string {
  const stored: StoredOptions = {
    format: { ...format },
    language,
    prompt,
    turns: turns === null ? null : { ...turns },
    name,
  };
  return JSON.stringify(stored);
}

/** Parses stored options. */
export function parseOptions(json: string): LiveOptions {
  const parsed = parse(json);
  return { ...(Value.Check(storedOptionsSchema, parsed) ? parsed : FALLBACK), keep: true };
}

/** Parses the stored names of speakers, by their labels. */
export function parseNames(json: string): Map<string, string> {
  const parsed = parse(json);
  return new Map(Value.Check(namesSchema, parsed) ? Object.entries(parsed) : []);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { readJsonLines } from "./json-lines.ts";

const count = Type.Integer({ minimum: 1 });

const speedSchema = Type.Object({
  batch: count,
  beams: count,
  tokens: count,
  /** Duration of one call for the whole batch. */
  seconds: Type.Number({ minimum: 0 }),
  /** Seconds of audio that are recognized in a second. */
  speed: Type.Number({ minimum: 0 }),
  /** Peak memory of its tensors on the GPU; null on a CPU. */
  bytes: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
});
/** Speed of transformers with a batch of windows. */
export type TransformersSpeed = Static<typeof speedSchema>;

const lineSchema = Type.Union([
  speedSchema,
  Type.Object({ device: Type.String(), torch: Type.String(), transformers: Type.String() }),
  Type.Object({ reason: Type.String(), batch: Type.Optional(count), beams: Type.Optional(count) }),
]);

export interface TransformersFigures {
  /** Device and versions; null when nothing could be measured. */
  readonly about: string | null;
  readonly speeds: readonly TransformersSpeed[];
  /** Why figures are missing; null when none are. */
  readonly missing: string | null;
}

/**
 * Measures transformers with random weights in the shape of large-v3-turbo, which is the most used other way to batch
 * windows on a GPU. Nothing is installed for it.
 * @param tokens number of tokens that it writes for each window
 */
export async function measureTransformers(options: {
  /** Program of Python with torch and transformers. */
  readonly python: string;
  readonly tokens: number;
  readonly seconds: number;
  readonly more?: readonly string[];
}): Promise<TransformersFigures> {
  const { python, tokens, seconds, more = [] } = options;
  if (Bun.which(python) === null) return { about: null, speeds: [], missing: `${python} is not installed` };
  const speeds: TransformersSpeed[] = [];
  const reasons: string[] = [];
  let about: string | null = null;
  const script = join(import.meta.dir, "transformers_whisper.py");
  const ended = await readJsonLines([python, script, "--tokens", String(tokens), ...more], lineSchema, {
    seconds,
    environment: { PYTHONDONTWRITEBYTECODE: "1" },
    onLine: (line) => {
      if ("speed" in line) speeds.push(line);
      else if ("device" in line) about = `transformers ${line.transformers}, torch ${line.torch}, ${line.device}`;
      else
        reasons.push(
          line.batch === undefined ? line.reason : `batch ${line.batch}, beam ${line.beams}: ${line.reason}`,
        );
    },
  });
  if (ended !== null) reasons.push(ended);
  return { about, speeds, missing: reasons.join("; ") || null };
}

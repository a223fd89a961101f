import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { shape } from "./support.ts";

const some = Type.Number({ exclusiveMinimum: 0 });
const benchmarkShape = shape({
  model: Type.String(),
  rows: Type.Array(
    shape({
      device: Type.Literal("cpu"),
      threads: Type.Integer({ minimum: 1 }),
      audio_hours_per_hour: some,
      five_recordings_of_an_hour_minutes: some,
      seconds_per_audio_second: shape({ detect: some, transcribe: some, diarize: some }),
      language_seconds: some,
      transcribed_seconds: Type.Number({ minimum: 20 }),
      worker_peak_bytes: Type.Number({ minimum: 200e6, maximum: 4e9 }),
    }),
    { minItems: 1, maxItems: 2 },
  ),
  notes: Type.Array(Type.String()),
});

/** Returns the differences of what `bench --json` printed from its format. */
export function faultsOf(stdout: string): string[] {
  const printed: unknown = JSON.parse(stdout);
  return [...Value.Errors(benchmarkShape, printed)].map(({ path, message }) => `${path}: ${message}`);
}

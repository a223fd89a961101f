import { join } from "node:path";
import type { Reference } from "./corpus.ts";
import type { Appliance } from "./hypotheses.ts";
import { joinParts } from "./made-audio.ts";

/** Enough for a server to find out how it encodes best; short recordings are not worth that to it. */
const warmUpSeconds = 300;

/** Has the server do what it does once in its life. @param directory for what it is made to hear */
export async function warmUp(server: Appliance, corpus: readonly Reference[], directory: string): Promise<void> {
  const parts: string[] = [];
  let seconds = 0;
  for (const { file, durationSeconds } of corpus.filter(({ group, exact }) => group === "dialogue" && exact)) {
    if (seconds >= warmUpSeconds) break;
    parts.push(file);
    seconds += durationSeconds;
  }
  if (seconds < warmUpSeconds) return;
  const file = join(directory, "warm-up.flac");
  await joinParts(parts, file);
  await server.transcribe(file);
}

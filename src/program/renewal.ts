import { embedded } from "./embedded.ts";

/** Advice for a missing or damaged part of the program, as the end of a sentence. */
export const renewal: string =
  embedded === null ? "run scripts/setup" : "unpack the program again with: transcribe doctor --fix";

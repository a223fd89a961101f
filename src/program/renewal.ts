import { embedded } from "./embedded.ts";

/** What to do where a part that the program brings is missing or damaged, as the end of a sentence. */
export const renewal: string =
  embedded === null ? "run scripts/setup" : "unpack the program again with: transcribe doctor --fix";

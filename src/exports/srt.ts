import { type Cue, toCues } from "./cues.ts";
import type { ExportDocument } from "./document.ts";
import { subtitleTime } from "./subtitle-time.ts";

/** Writes SubRip: numbered cues, times with a comma. The format has no field for speakers. */
export async function* writeSrt(document: ExportDocument): AsyncGenerator<string> {
  let number = 0;
  for await (const cue of toCues(document)) yield toText(++number, cue);
}

function toText(number: number, { startMilliseconds, endMilliseconds, lines }: Cue): string {
  const times = `${subtitleTime(startMilliseconds, ",")} --> ${subtitleTime(endMilliseconds, ",")}`;
  return `${number}\n${times}\n${lines.map(plainly).join("\n")}\n\n`;
}

/** An invisible character. A tag, entity or arrow that contains it is no longer recognized by players. */
const wordJoiner = "\u2060";

/**
 * Inserts a word joiner into sequences that players would read as markup: `<b>`, `{\an8}`, `\N`, `&lt;` and arrows.
 * SubRip has no escapes.
 */
function plainly(line: string): string {
  return line.replace(/<(?=\S)|\{(?=\\)|\\(?=[a-zA-Z])|&(?=[#\w])|--(?=>)/g, (opening) => opening + wordJoiner);
}

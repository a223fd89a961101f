import { type Cue, toCues } from "./cues.ts";
import type { ExportDocument } from "./document.ts";
import { subtitleTime } from "./subtitle-time.ts";

/** SubRip: numbered cues, times with a comma. It has no place for speakers. */
export async function* writeSrt(document: ExportDocument): AsyncGenerator<string> {
  let number = 0;
  for await (const cue of toCues(document)) yield toText(++number, cue);
}

function toText(number: number, { startMilliseconds, endMilliseconds, lines }: Cue): string {
  const times = `${subtitleTime(startMilliseconds, ",")} --> ${subtitleTime(endMilliseconds, ",")}`;
  return `${number}\n${times}\n${lines.map(plainly).join("\n")}\n\n`;
}

/** Nothing is seen of it, and what it stands in is no tag, entity or arrow to a player any more. */
const wordJoiner = "\u2060";

/**
 * SubRip has no escapes, and players read `<b>`, `{\an8}`, `\N`, `&lt;` and arrows in it as markup; a word joiner inside
 * keeps them text.
 */
function plainly(line: string): string {
  return line.replace(/<(?=\S)|\{(?=\\)|\\(?=[a-zA-Z])|&(?=[#\w])|--(?=>)/g, (opening) => opening + wordJoiner);
}

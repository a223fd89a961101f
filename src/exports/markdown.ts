import { clockTime, documentTitle, type ExportDocument, showsSpeakers, speakerName, wholeSeconds } from "./document.ts";
import { toTurns } from "./turns.ts";

/**
 * Writes Markdown (CommonMark) with the facts about the recording as front matter in YAML, which notes programs and site
 * generators read. Every turn is a paragraph under its speaker and time.
 */
export async function* writeMarkdown(document: ExportDocument): AsyncGenerator<string> {
  const title = documentTitle(document);
  const facts: Record<string, string | number | string[]> = {
    title,
    id: document.id,
    date: new Date(document.createdAt).toISOString(),
    duration: clockTime(wholeSeconds(document) * 1000),
  };
  if (document.language !== null) facts.language = document.language;
  if (showsSpeakers(document)) facts.speakers = document.speakers.map((_, speaker) => speakerName(document, speaker));
  yield "---\n";
  // A JSON value is a YAML value, whatever characters it has.
  for (const [name, value] of Object.entries(facts)) yield `${name}: ${JSON.stringify(value)}\n`;
  yield `---\n\n# ${escaped(title)}\n`;
  for await (const turn of toTurns(document.segments)) {
    const name = showsSpeakers(document) ? `**${escaped(speakerName(document, turn.speaker))}** ` : "";
    yield `\n${name}\\[${clockTime(turn.startMilliseconds)}\\]\n\n${escaped(turn.text)}\n`;
  }
}

/** Characters that begin markup anywhere in a line. */
const inlineMarkup = /[\\`*_[\]<>&~|$^=]/g;
/** Markup at the beginning of a line: headings, lists, quotes, rules and numbered lists. */
const blockMarkup = /^(\s*)([#+-]|\d+(?=[.)]))/;

/** Escapes a text on one line, so that it has no markup (CommonMark 2.4). */
function escaped(text: string): string {
  const inline = text.replace(inlineMarkup, "\\$&");
  return inline.replace(blockMarkup, (_all, space: string, mark: string) =>
    // A number can't be escaped, but the sign after it can.
    /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`,
  );
}

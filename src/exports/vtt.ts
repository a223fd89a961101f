import { type Cue, toCues } from "./cues.ts";
import { type ExportDocument, speakerName } from "./document.ts";
import { subtitleTime } from "./subtitle-time.ts";

/** WebVTT (W3C), with every cue's speaker as its voice. */
export async function* writeVtt(document: ExportDocument): AsyncGenerator<string> {
  yield "WEBVTT\n\n";
  for await (const cue of toCues(document.segments)) yield toText(cue, speakerName(document, cue.speaker));
}

function toText({ startMilliseconds, endMilliseconds, lines }: Cue, speaker: string): string {
  const times = `${subtitleTime(startMilliseconds, ".")} --> ${subtitleTime(endMilliseconds, ".")}`;
  // The end tag may be left out of a voice span that reaches to the end of its cue.
  return `${times}\n<v ${escaped(speaker)}>${lines.map(escaped).join("\n")}\n\n`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escaping `>` too keeps `-->` out of the text. */
function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => entities[character] ?? character);
}

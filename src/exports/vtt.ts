import { type Cue, toCues } from "./cues.ts";
import { type ExportDocument, speakerName } from "./document.ts";
import { subtitleTime } from "./subtitle-time.ts";
import { xmlText } from "./xml-text.ts";

/** Writes WebVTT (W3C), with the speaker of every cue as its voice. */
export async function* writeVtt(document: ExportDocument): AsyncGenerator<string> {
  yield "WEBVTT\n\n";
  for await (const cue of toCues(document)) yield toText(cue, speakerName(document, cue.speaker));
}

function toText({ startMilliseconds, endMilliseconds, lines }: Cue, speaker: string): string {
  const times = `${subtitleTime(startMilliseconds, ".")} --> ${subtitleTime(endMilliseconds, ".")}`;
  // Escaping `>` too keeps `-->` out of the text. A voice span that extends to the end of its cue needs no end tag.
  return `${times}\n<v ${xmlText(speaker)}>${lines.map(xmlText).join("\n")}\n\n`;
}

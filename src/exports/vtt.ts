import { type Cue, toCues } from "./cues.ts";
import { type ExportDocument, speakerName } from "./document.ts";
import { subtitleTime } from "./subtitle-time.ts";
import { xmlText } from "./xml-text.ts";

/** WebVTT (W3C), with every cue's speaker as its voice. */
export async function* writeVtt(document: ExportDocument): AsyncGenerator<string> {
  yield "WEBVTT\n\n";
  for await (const cue of toCues(document)) yield toText(cue, speakerName(document, cue.speaker));
}

function toText({ startMilliseconds, endMilliseconds, lines }: Cue, speaker: string): string {
  const times = `${subtitleTime(startMilliseconds, ".")} --> ${subtitleTime(endMilliseconds, ".")}`;
  // Escaping > too keeps --> out of the text. The end tag may be left out of a voice span that reaches to the end of its cue.
  return `${times}\n<v ${xmlText(speaker)}>${lines.map(xmlText).join("\n")}\n\n`;
}

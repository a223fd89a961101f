import { clockTime, documentDetails, documentTitle, type ExportDocument, speakerName } from "./document.ts";
import { toTurns } from "./turns.ts";

/** Writes plain text: title and details, then every turn under its time and speaker. */
export async function* writeTxt(document: ExportDocument): AsyncGenerator<string> {
  yield `${documentTitle(document)}\n\n`;
  for (const { label, value } of documentDetails(document)) yield `${`${label}:`.padEnd(10)} ${value}\n`;
  for await (const turn of toTurns(document.segments)) {
    yield `\n[${clockTime(turn.startMilliseconds)}] ${speakerName(document, turn.speaker)}\n${turn.text}\n`;
  }
}

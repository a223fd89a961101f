import { cleanText } from "../text/index.ts";
import { toCues } from "./cues.ts";
import { type ExportDocument, showsSpeakers, speakerName } from "./document.ts";

/**
 * Writes JSON in the form of Whisper's own program, which many programs read: segments with `words[].word`. Its measures
 * of the decoder are not part of a transcript, so they are absent. `speaker` is added, as WhisperX does.
 */
export async function* writeWhisperJson(document: ExportDocument): AsyncGenerator<string> {
  const texts: string[] = [];
  yield '{"segments":[';
  let id = 0;
  for await (const { startMilliseconds, endMilliseconds, speaker, text, words } of document.segments) {
    const shown = ` ${cleanText(text)}`;
    texts.push(shown);
    const segment = {
      id,
      start: startMilliseconds / 1000,
      end: endMilliseconds / 1000,
      text: shown,
      words: words.map(([word, start, end, probability]) => ({
        // The space before a word is part of it.
        word: word.toWellFormed(),
        start: start / 1000,
        end: end / 1000,
        probability,
      })),
      speaker: speakerName(document, speaker),
    };
    yield `${id === 0 ? "" : ","}\n${JSON.stringify(segment)}`;
    id += 1;
  }
  yield `\n],\n"text":${JSON.stringify(texts.join(""))},\n"language":${JSON.stringify(document.language)}}\n`;
}

/** Writes the JSON of Podcasting 2.0's tag `podcast:transcript`. Its segments are as short as subtitles. */
export async function* writePodcastJson(document: ExportDocument): AsyncGenerator<string> {
  yield '{"version":"1.0.0","segments":[';
  let isFirst = true;
  for await (const { startMilliseconds, endMilliseconds, speaker, lines } of toCues(document)) {
    const segment = {
      ...(showsSpeakers(document) ? { speaker: speakerName(document, speaker) } : {}),
      startTime: startMilliseconds / 1000,
      endTime: endMilliseconds / 1000,
      body: lines.join(" "),
    };
    yield `${isFirst ? "" : ","}\n${JSON.stringify(segment)}`;
    isFirst = false;
  }
  yield "\n]}\n";
}

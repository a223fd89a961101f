import { cleanText } from "../text/index.ts";
import { writeEaf, writeTextGrid } from "./annotation-formats.ts";
import { type Cue, toCues } from "./cues.ts";
import { writeCsv, writeJson, writeRttm, writeTsv } from "./data-formats.ts";
import {
  asksForSpeakers,
  clockTime,
  documentDetails,
  documentTitle,
  type ExportDocument,
  showsSpeakers,
  speakerName,
  timestamp,
  wholeSeconds,
} from "./document.ts";
import { writeExb } from "./exb.ts";
import type { TextFormat } from "./formats.ts";
import { writePodcastJson, writeWhisperJson } from "./json-formats.ts";
import { writeMarkdown } from "./markdown.ts";
import { writeTtml } from "./ttml.ts";
import { toTurns } from "./turns.ts";
import { xmlText } from "./xml-text.ts";

/** Writers of the formats that are text, which need no process of their own. */
export const textWriters: Readonly<Record<TextFormat, (document: ExportDocument) => AsyncIterable<string>>> = {
  txt: writeTxt,
  srt: writeSrt,
  vtt: writeVtt,
  json: writeJson,
  rttm: writeRttm,
  csv: writeCsv,
  textgrid: writeTextGrid,
  eaf: writeEaf,
  tsv: writeTsv,
  lrc: writeLrc,
  md: writeMarkdown,
  ttml: writeTtml,
  exb: writeExb,
  whisper: writeWhisperJson,
  podcast: writePodcastJson,
};

/** Writes plain text: title and details, then every turn under its time and speaker. */
async function* writeTxt(document: ExportDocument): AsyncGenerator<string> {
  yield `${documentTitle(document)}\n\n`;
  for (const { label, value } of documentDetails(document)) yield `${`${label}:`.padEnd(10)} ${value}\n`;
  for await (const turn of toTurns(document.segments)) {
    const name = showsSpeakers(document) ? ` ${speakerName(document, turn.speaker)}` : "";
    yield `\n[${clockTime(turn.startMilliseconds)}]${name}\n${turn.text}\n`;
  }
}

/**
 * Writes SubRip: numbered cues, times with a comma. The format has no field for speakers, so only a layout that asks for
 * them puts them before the text, as podcasts have them: `Anna: Good morning.`
 */
async function* writeSrt(document: ExportDocument): AsyncGenerator<string> {
  let number = 0;
  for await (const cue of toCues(document, asksForSpeakers(document))) {
    yield `${++number}\n${timesOf(cue, ",")}\n${cue.lines.map(withoutMarkup).join("\n")}\n\n`;
  }
}

/** An invisible character. A tag, entity or arrow that contains it is no longer recognized by players. */
const wordJoiner = "\u2060";

/** The beginnings of tags, style overrides (`{\an8}`, `{y:i}`, `\N`), entities, arrows, and a cue's times (`00:00:01,5`). */
const subRipMarkup = /<(?=\S)|\{(?=\\|[a-z]:)|\\(?=[a-z])|&(?=[#\w])|--(?=>)|(?<=\d:\d\d?):(?=\d\d?[.,]\d)/gi;

/** Inserts a word joiner into sequences that players would read as markup. SubRip has no escapes. */
function withoutMarkup(line: string): string {
  return line.replace(subRipMarkup, (opening) => opening + wordJoiner);
}

/** Writes WebVTT (W3C), with the speaker of every cue as its voice. */
async function* writeVtt(document: ExportDocument): AsyncGenerator<string> {
  yield "WEBVTT\n\n";
  for await (const cue of toCues(document)) {
    const voice = showsSpeakers(document) ? `<v ${xmlText(speakerName(document, cue.speaker))}>` : "";
    // Escaping `>` too keeps `-->` out of the text. A voice span that extends to the end of its cue needs no end tag.
    yield `${timesOf(cue, ".")}\n${voice}${cue.lines.map(xmlText).join("\n")}\n\n`;
  }
}

/** Writes LRC, one line for each segment. Like SubRip, the format has no field for speakers. */
async function* writeLrc(document: ExportDocument): AsyncGenerator<string> {
  // A bracket in the title would close its tag.
  yield `[ti:${documentTitle(document).replaceAll("[", "(").replaceAll("]", ")")}]\n`;
  yield `[length:${lrcTime(wholeSeconds(document) * 1000).slice(0, -3)}]\n\n`;
  for await (const segment of document.segments) {
    const text = cleanText(segment.text);
    // Players would take a bracket with a number for another time, of this line or of a word, and any bracket directly
    // after the line's time for a tag.
    const line = text.replace(/[[<](?=\d)/g, (opening) => opening + wordJoiner);
    const gap = line.startsWith("[") ? wordJoiner : "";
    if (text !== "") yield `[${lrcTime(segment.startMilliseconds)}]${gap}${line}\n`;
  }
}

/** Formats a time as `MM:SS.cc`. The format has no hours, so minutes go beyond 99. */
function lrcTime(milliseconds: number): string {
  const hundredths = Math.max(0, Math.round(milliseconds / 10));
  const parts = [Math.floor(hundredths / 6000), Math.floor(hundredths / 100) % 60, hundredths % 100];
  const [minutes, seconds, rest] = parts.map((part) => String(part).padStart(2, "0"));
  return `${minutes}:${seconds}.${rest}`;
}

function timesOf({ startMilliseconds, endMilliseconds }: Cue, sign: "," | "."): string {
  return `${timestamp(startMilliseconds, sign)} --> ${timestamp(endMilliseconds, sign)}`;
}

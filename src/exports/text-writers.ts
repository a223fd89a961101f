import { writeEaf, writeTextGrid } from "./annotation-formats.ts";
import { writeCsv, writeJson, writeRttm, writeTsv } from "./data-formats.ts";
import type { ExportDocument } from "./document.ts";
import type { TextFormat } from "./formats.ts";
import { writeLrc, writeSrt, writeTxt, writeVtt } from "./text-formats.ts";

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
};

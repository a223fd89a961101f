import { Type } from "@sinclair/typebox";
import type { ExportLayout } from "./document.ts";

/** Media type of each format, with UTF-8 for the text formats. */
export const exportMediaTypes = {
  txt: "text/plain; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  json: "application/json",
  rttm: "text/plain; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  textgrid: "text/plain; charset=utf-8",
  eaf: "application/xml; charset=utf-8",
  tsv: "text/tab-separated-values; charset=utf-8",
  lrc: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  ttml: "application/ttml+xml; charset=utf-8",
  exb: "application/xml; charset=utf-8",
  whisper: "application/json",
  podcast: "application/json",
} as const;
export type ExportFormat = keyof typeof exportMediaTypes;

export const exportFormats = Object.keys(exportMediaTypes) as ExportFormat[];
export const exportFormatSchema = Type.Union(exportFormats.map((format) => Type.Literal(format)));

/** A format that a child process writes; its file is not text. */
export type DocumentFormat = "pdf" | "docx";
export type TextFormat = Exclude<ExportFormat, DocumentFormat>;

export function isTextFormat(format: ExportFormat): format is TextFormat {
  return format !== "pdf" && format !== "docx";
}

/** Formats that `GET /transcriptions/ID/export` offers, whose list is part of the contract of v1. */
export const contractFormats = [
  "txt",
  "srt",
  "vtt",
  "pdf",
  "docx",
  "json",
  "rttm",
  "csv",
  "textgrid",
  "eaf",
  "tsv",
  "lrc",
] as const satisfies readonly ExportFormat[];
type ContractFormat = (typeof contractFormats)[number];

/** Returns whether the contract of v1 has a format. */
export function isContractFormat(format: ExportFormat): format is ContractFormat {
  return contractFormats.some((each) => each === format);
}

/** Extensions that differ from the format's name. */
const extensions: { readonly [F in ExportFormat]?: string } = {
  // Praat's spelling.
  textgrid: "TextGrid",
  whisper: "whisper.json",
  podcast: "podcast.json",
};

/** Returns the extension of a format's files, without a dot. */
export function exportExtension(format: ExportFormat): string {
  return extensions[format] ?? format;
}

/** Formats with subtitles, whose width, lines and words a client may choose. */
const subtitleFormats: readonly ExportFormat[] = ["srt", "vtt", "ttml", "podcast"];
/** Formats that can leave out the speakers. */
const readableFormats: readonly ExportFormat[] = [...subtitleFormats, "txt", "md", "pdf", "docx"];
/** Formats that have speakers. */
const namedFormats = exportFormats.filter((format) => format !== "tsv" && format !== "lrc");
/** Formats that name the file of the recording. */
const mediaFormats: readonly ExportFormat[] = ["eaf", "exb"];

/** Returns the choices that have no effect on a format; a client that sends one expects something else. */
export function uselessChoices(format: ExportFormat, layout: ExportLayout): (keyof ExportLayout)[] {
  const uses: readonly (readonly [choice: keyof ExportLayout, formats: readonly ExportFormat[]])[] = [
    ["speakers", layout.speakers === "none" ? readableFormats : namedFormats],
    ["width", subtitleFormats],
    ["lines", subtitleFormats],
    ["words", subtitleFormats],
    ["media", mediaFormats],
  ];
  return uses
    .filter(([choice, formats]) => layout[choice] !== undefined && !formats.includes(format))
    .map(([choice]) => choice);
}

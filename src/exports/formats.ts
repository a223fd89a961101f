import { Type } from "@sinclair/typebox";

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

/** Returns the extension of a format's files, without a dot: the format's name, in Praat's spelling for a TextGrid. */
export function exportExtension(format: ExportFormat): string {
  return format === "textgrid" ? "TextGrid" : format;
}

import { Type } from "@sinclair/typebox";

/** Media type of each format, with UTF-8 for the text formats. A format's name is also its file name extension. */
export const exportMediaTypes = {
  txt: "text/plain; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
} as const;
export type ExportFormat = keyof typeof exportMediaTypes;

export const exportFormats = Object.keys(exportMediaTypes) as ExportFormat[];
export const exportFormatSchema = Type.Union(exportFormats.map((format) => Type.Literal(format)));

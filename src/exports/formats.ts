import { type Static, Type } from "@sinclair/typebox";

export const exportFormatSchema = Type.Union([
  Type.Literal("txt"),
  Type.Literal("srt"),
  Type.Literal("vtt"),
  Type.Literal("pdf"),
  Type.Literal("docx"),
]);
export type ExportFormat = Static<typeof exportFormatSchema>;

/** Media type (UTF-8 for the text formats) and file name extension of each format. */
export const exportFormats: Readonly<Record<ExportFormat, { readonly mediaType: string; readonly extension: string }>> =
  {
    txt: { mediaType: "text/plain; charset=utf-8", extension: "txt" },
    srt: { mediaType: "application/x-subrip; charset=utf-8", extension: "srt" },
    vtt: { mediaType: "text/vtt; charset=utf-8", extension: "vtt" },
    pdf: { mediaType: "application/pdf", extension: "pdf" },
    docx: {
      mediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      extension: "docx",
    },
  };

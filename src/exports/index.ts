export { ExportError, ExportTooLargeError } from "./child-process.ts";
export { jsonExportSchema, toWord, wordSchema } from "./data-formats.ts";
export type { ExportDocument, ExportSegment } from "./document.ts";
export { ExportMaker, type WantedExport } from "./export-maker.ts";
export { ExportQueue } from "./export-queue.ts";
export { type ExportResult, exportTranscript } from "./export-transcript.ts";
export { exportFileName } from "./file-name.ts";
export {
  type ExportFormat,
  exportExtension,
  exportFormatSchema,
  exportFormats,
  exportMediaTypes,
  isTextFormat,
  type TextFormat,
} from "./formats.ts";
export { recordingDocument } from "./recording-document.ts";

export { ExportError, ExportTooLargeError } from "./child-process.ts";
export { jsonExportSchema, toWord, wordSchema } from "./data-formats.ts";
export { type ExportDocument, type ExportLayout, type ExportSegment, exportLayoutSchema } from "./document.ts";
export { ExportMaker, type WantedExport } from "./export-maker.ts";
export { ExportQueue } from "./export-queue.ts";
export { type ExportResult, exportTranscript } from "./export-transcript.ts";
export { exportFileName } from "./file-name.ts";
export {
  contractFormats,
  type ExportFormat,
  exportExtension,
  exportFormatSchema,
  exportFormats,
  exportMediaTypes,
  isContractFormat,
  isTextFormat,
  uselessChoices,
} from "./formats.ts";
export { recordingDocument } from "./recording-document.ts";

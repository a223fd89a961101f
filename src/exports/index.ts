export type {
  ExportDocument,
  ExportSegment,
} from "./document.ts";
export { ExportError, ExportTooLargeError } from "./export-error.ts";
export { type ExportOptions, exportTranscript } from "./export-transcript.ts";
export { type ExportFormat, exportFormatSchema, exportFormats } from "./formats.ts";
export { recordingDocument } from "./recording-document.ts";

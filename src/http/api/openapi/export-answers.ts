import type { OpenAPIV3 } from "openapi-types";
import {
  type ExportFormat,
  exportFormats,
  exportMediaTypes,
  isTextFormat,
  jsonExportSchema,
} from "../../../exports/index.ts";
import type { furtherOperations } from "../operations.ts";
import { apiHeaders, jsonAnswer, parameter } from "./components.ts";
import { segmentExamples } from "./examples.ts";
import type { OperationText } from "./operation-text.ts";
import { refer, schemaOf } from "./schemas.ts";
import { type Schema, toOpenApi } from "./to-openapi.ts";

/** Returns the answers of an operation that sends an export. @param content what the file may be */
export function exportAnswers(content: Record<string, OpenAPIV3.MediaTypeObject>): OpenAPIV3.ResponsesObject {
  return {
    200: { description: "The file.", headers: apiHeaders("ETag", "Content-Disposition"), content },
    304: { description: "The file still has the `ETag` in `If-None-Match`.", headers: apiHeaders("ETag") },
  };
}

/** Returns the content of an export in one of these formats. */
export function contentOf(formats: readonly ExportFormat[]): Record<string, OpenAPIV3.MediaTypeObject> {
  return Object.fromEntries(
    formats.map((format) => [exportMediaTypes[format].split(";")[0] ?? "", { schema: fileSchema(format) }]),
  );
}

function fileSchema(format: ExportFormat): Schema {
  if (format === "json") return toOpenApi(jsonExportSchema, refer);
  return isTextFormat(format) ? { type: "string" } : { type: "string", format: "binary" };
}

/** Documentation of the operations that the contract of version 1 does not have, each under a tag of its own. */
export const furtherTexts: Record<keyof typeof furtherOperations, OperationText & { readonly tag: string }> = {
  exportTranscriptionAs: {
    tag: "Exports",
    summary: "Download the transcript in a chosen form",
    description:
      "The transcript as a file, in every format of *Download the transcript* and in further ones: `md` (Markdown with front " +
      "matter), `ttml` (EBU-TT-D), `exb` (EXMARaLDA), `whisper` (the JSON of Whisper's own program, with `words[].word`) and " +
      "`podcast` (the JSON of Podcasting 2.0). Without parameters, the formats of *Download the transcript* have the same " +
      "bytes. An unknown format is 422 under `format`. A parameter that has no effect on the format is 422 under its name. " +
      "For podcasts, `srt` with `speakers=names&width=32` follows the rules of Podcasting 2.0.",
    parameters: [
      {
        name: "format",
        in: "path",
        required: true,
        description: "The format of the file.",
        schema: { type: "string", enum: [...exportFormats] },
        example: "ttml",
      },
      parameter("IfNoneMatch"),
    ],
    // One schema: several formats have the same media type.
    success: exportAnswers({ ...contentOf(exportFormats), "application/json": { schema: { type: "object" } } }),
    errors: ["RecordingForbidden", "NoTranslation", "NotReady", "InvalidRequest"],
  },
  getTranslation: {
    tag: "Translation",
    summary: "Read the translation",
    description:
      "The segments of the translation to English, with speakers and times, in pages like those of *Read the transcript*. " +
      "Only of a completed recording that was created with `task=translate`. Its speakers are those of the transcript at the " +
      "same times. A file of it is *Download the transcript in a chosen form* with `text=translation`.",
    success: {
      200: jsonAnswer("A page.", schemaOf("SegmentPage"), {
        firstPage: { value: { data: segmentExamples, has_more: true, next_cursor: "aTI" } },
      }),
    },
    errors: ["RecordingForbidden", "NoTranslation", "NotReady", "InvalidRequest"],
  },
};

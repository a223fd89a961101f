import type { TSchema } from "@sinclair/typebox";
import type { OpenAPIV3 } from "openapi-types";
import {
  editing,
  languageSchema,
  languagesSchema,
  listedTranscriptionSchema,
  segmentPageSchema,
  segmentSchema,
  transcriptionPageSchema,
  transcriptionSchema,
} from "../../../api-contract/index.ts";
import { wordSchema } from "../../../exports/index.ts";
import { statusSchema } from "../../../recordings/index.ts";
import {
  modelListSchema,
  modelSchema,
  openAiErrorSchema,
  openAiForm,
  openAiTranscriptSchema,
} from "../../compat/index.ts";
import { errorCodes, errorSchema } from "../../shared/errors.ts";
import { createForm } from "../create-fields.ts";
import { errorSchemas } from "./components.ts";
import { type Schema, toOpenApi } from "./to-openapi.ts";

/** The resources, each after the resources that it contains. */
const resources = {
  TranscriptionStatus: statusSchema,
  Transcription: transcriptionSchema,
  ListedTranscription: listedTranscriptionSchema,
  TranscriptionPage: transcriptionPageSchema,
  Word: wordSchema,
  Segment: segmentSchema,
  SegmentPage: segmentPageSchema,
  Language: languageSchema,
  Languages: languagesSchema,
  Speaker: editing.speakerSchema,
  Speakers: editing.speakersSchema,
  SpeakerNames: editing.speakerNamesSchema,
  SpeakerMerge: editing.speakerMergeSchema,
  SegmentCorrection: editing.segmentCorrectionSchema,
  Corrections: editing.correctionsSchema,
  Corrected: editing.correctedSchema,
  Splice: editing.spliceSchema,
  LaterChanges: editing.laterChangesSchema,
  Revision: editing.revisionSchema,
  RevisionPage: editing.revisionPageSchema,
  RevisionSegments: editing.revisionSegmentsSchema,
  ComparedSegment: editing.comparedSchema,
  Difference: editing.differenceSchema,
  Comparison: editing.comparisonSchema,
  Tags: editing.tagsSchema,
  Mark: editing.markSchema,
  Hit: editing.hitSchema,
  FoundTranscription: editing.foundSchema,
  FoundPage: editing.foundPageSchema,
  Voice: editing.voiceSchema,
  Voices: editing.voicesSchema,
  VoiceName: editing.voiceNameSchema,
  Processing: editing.processingSchema,
  ProcessAgain: editing.processAgainSchema,
  TranscriptionForm: createForm,
  OpenAiForm: openAiForm,
  OpenAiTranscript: openAiTranscriptSchema,
  OpenAiModel: modelSchema,
  OpenAiModelList: modelListSchema,
  OpenAiError: openAiErrorSchema,
  Error: errorSchema(errorCodes),
} as const satisfies Record<string, TSchema>;

const known = new Map<string, string>();

/**
 * Returns a reference if the document has this schema under a name. TypeBox copies composed schemas, so they are
 * compared by content.
 */
export function refer(schema: Schema): Schema {
  const name = known.get(JSON.stringify(schema));
  return name === undefined ? schema : reference(name);
}

function reference(name: string): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/schemas/${name}` };
}

function named(): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  for (const [name, resource] of Object.entries(resources)) {
    const schema = toOpenApi(resource, refer);
    schemas[name] = schema;
    known.set(JSON.stringify(schema), name);
  }
  return schemas;
}

/** All schemas of the document, by name. */
export const schemas: Readonly<Record<string, Schema>> = { ...named(), ...errorSchemas };

export function schemaOf(name: keyof typeof resources): OpenAPIV3.ReferenceObject {
  return reference(name);
}

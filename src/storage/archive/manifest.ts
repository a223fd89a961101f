import { type Static, Type } from "@sinclair/typebox";

export const manifestName = "manifest.json";
export const databaseName = "transcribe.db";
/** Returns the name of a recording's file in an archive. */
export const uploadName = (recordingId: string) => `uploads/${recordingId}`;
/** Names that files of a backup may have, except the manifest's; no other name is unpacked. */
export const memberName = /^(?:transcribe\.db|uploads\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const closed = { additionalProperties: false };

export const manifestSchema = Type.Object(
  {
    format: Type.Literal("transcribe-backup"),
    version: Type.Literal(1),
    files: Type.Array(
      Type.Object({ name: Type.String(), sizeBytes: Type.Integer({ minimum: 0 }), sha256: Type.String() }, closed),
    ),
  },
  closed,
);
export type Manifest = Static<typeof manifestSchema>;

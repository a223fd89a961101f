import { type Static, Type } from "@sinclair/typebox";

export const buildInfoSchema = Type.Object({
  version: Type.String(),
  /** Git commit, with `-changed` appended when files differ from it; `unknown` outside of a checkout. */
  commit: Type.String(),
  /** e.g. `linux-x64` */
  target: Type.String(),
  bun: Type.String(),
  whisperCpp: Type.String(),
  onnxRuntime: Type.String(),
  ffmpeg: Type.String(),
  models: Type.Array(Type.Object({ file: Type.String(), sha256: Type.String() })),
});

/** Components of a program with their versions. */
export type BuildInfo = Static<typeof buildInfoSchema>;

export const noticeSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    /** An SPDX expression where there is one. */
    licence: Type.String(),
    /** Its origin and the address of its source. */
    source: Type.String(),
    text: Type.String(),
  },
  { additionalProperties: false },
);

/** The licence under which a part of the program is distributed, in its makers' words. */
export type Notice = Static<typeof noticeSchema>;

export const partSchema = Type.Object({
  /** Path below the directory of all parts, e.g. `native/whisper.node`. */
  path: Type.String(),
  bytes: Type.Integer(),
  /** Lower-case hexadecimal, of the unpacked file. */
  sha256: Type.String(),
  executable: Type.Boolean(),
  /** Place of its zstd frame in the single file. */
  offset: Type.Integer(),
  packedBytes: Type.Integer(),
});

/** A part that must be a file because native code opens it by path: a library, a program or a model. */
export type EmbeddedPart = Readonly<Static<typeof partSchema>>;

/** Data that a compiled program contains in addition to its code. */
export interface Embedded {
  readonly build: BuildInfo;
  /** The parts in the single file, from which this program was unpacked. */
  readonly parts: readonly EmbeddedPart[];
  /** Path of the notices inside this program: JSON. */
  readonly notices: string;
  /** Path of the bill of materials inside this program: a CycloneDX document. */
  readonly sbom: string;
}

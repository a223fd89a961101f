import type { BuildInfo } from "./build-info.ts";

/** A part that must be a file because native code opens it by path: a library, a program or a model. */
export interface EmbeddedPart {
  /** Path below the directory of all parts, e.g. `native/whisper.node`. */
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hexadecimal, of the unpacked file. */
  readonly sha256: string;
  readonly executable: boolean;
  /** Path of its zstd frame inside this program. */
  readonly packed: string;
}

/** Data that a compiled program contains in addition to its code. */
export interface Embedded {
  readonly build: BuildInfo;
  readonly parts: readonly EmbeddedPart[];
  /** Path of the notices inside this program: JSON. */
  readonly notices: string;
}

/** Null when run from source: scripts/build replaces this module when it compiles. */
export const embedded: Embedded | null = null as Embedded | null;

import type { BuildInfo } from "./build-info.ts";

/** A part that has to be a file: a library, a program or a model that native code opens by its path. */
export interface EmbeddedPart {
  /** Where it belongs below the directory of all parts, e.g. `native/whisper.node`. */
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hexadecimal, of the unpacked file. */
  readonly sha256: string;
  readonly executable: boolean;
  /** Path of its zstd frame inside this program. */
  readonly packed: string;
}

/** What a program in one file carries beside code. */
export interface Embedded {
  readonly build: BuildInfo;
  readonly parts: readonly EmbeddedPart[];
  /** Path of the notices inside this program: JSON. */
  readonly notices: string;
}

/** Null from source: scripts/build puts another module in this one's place when it compiles. */
export const embedded: Embedded | null = null as Embedded | null;

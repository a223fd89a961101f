import type { BuildInfo } from "./build-info.ts";
import type { EmbeddedPart } from "./unpack-child.ts";

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

/** Null when run from source: scripts/build replaces this module when it compiles. */
export const embedded: Embedded | null = null as Embedded | null;

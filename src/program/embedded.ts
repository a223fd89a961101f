import type { BuildInfo } from "./build-info.ts";
import type { EmbeddedPart } from "./unpack-child.ts";

/** Data that a compiled program contains in addition to its code. */
export interface Embedded {
  readonly build: BuildInfo;
  readonly parts: readonly EmbeddedPart[];
  /** Path of the notices inside this program: JSON. */
  readonly notices: string;
  /** Path of the bill of materials inside this program: a CycloneDX document. */
  readonly sbom: string;
  /** Path of the description inside this program. Another program's `verify` reads it, without running this one. */
  readonly description: string;
}

/** Null when run from source: scripts/build replaces this module when it compiles. */
export const embedded: Embedded | null = null as Embedded | null;

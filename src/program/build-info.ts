import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { embedded } from "./embedded.ts";
import { checkout } from "./own-program.ts";

/** Components of a program with their versions. */
export interface BuildInfo {
  readonly version: string;
  /** Git commit, with `-changed` appended when files differ from it; `unknown` outside of a checkout. */
  readonly commit: string;
  /** e.g. `linux-x64` */
  readonly target: string;
  readonly bun: string;
  readonly whisperCpp: string;
  readonly onnxRuntime: string;
  readonly ffmpeg: string;
  readonly models: readonly { readonly file: string; readonly sha256: string }[];
}

const noticeSchema = Type.Object(
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

/** Returns the components of this program: embedded when it is compiled, else read from the checkout. */
export async function buildInfo(): Promise<BuildInfo> {
  return embedded?.build ?? (await (await buildScripts()).describeCheckout());
}

/** Returns the notice of every part: embedded in a compiled program, else read from the packages. */
export async function notices(): Promise<Notice[]> {
  if (embedded === null) return (await buildScripts()).checkoutNotices();
  return Value.Parse(Type.Array(noticeSchema), await Bun.file(embedded.notices).json());
}

/** Returns the bill of materials of this program, a CycloneDX 1.6 document: embedded, or made from the checkout. */
export async function sbom(): Promise<string> {
  if (embedded !== null) return await Bun.file(embedded.sbom).text();
  const scripts: typeof import("../../tools/build/sbom/program-sbom.ts") = await import(
    join(checkout, "tools/build/sbom/program-sbom.ts")
  );
  return await scripts.checkoutSbom();
}

/** Loads the module of scripts/build that describes a checkout. The path is computed, so no compiled program has it. */
function buildScripts(): Promise<typeof import("../../tools/build/describe-checkout.ts")> {
  return import(join(checkout, "tools/build/describe-checkout.ts"));
}

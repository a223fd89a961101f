import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { embedded } from "./embedded.ts";
import { checkout } from "./own-program.ts";

const buildInfoSchema = Type.Object({
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
  return embedded?.build ?? Value.Parse(buildInfoSchema, JSON.parse(await describeCheckout("build")));
}

/** Returns the notice of every part: embedded in a compiled program, else read from the packages. */
export async function notices(): Promise<Notice[]> {
  const json = await (embedded === null ? describeCheckout("notices") : Bun.file(embedded.notices).text());
  return Value.Parse(Type.Array(noticeSchema), JSON.parse(json));
}

/** Returns the bill of materials of this program, a CycloneDX 1.6 document: embedded, or made from the checkout. */
export async function sbom(): Promise<string> {
  return embedded === null ? describeCheckout("sbom") : Bun.file(embedded.sbom).text();
}

/**
 * Returns the output of the tool that describes a checkout. It is no part of the program, so it runs in its own process.
 * @throws {Error} with the last line of its errors when it fails
 */
async function describeCheckout(what: "build" | "notices" | "sbom"): Promise<string> {
  const tool = join(checkout, "tools/build/describe.ts");
  const child = Bun.spawn([process.execPath, "--no-env-file", tool, what], { cwd: checkout, stderr: "pipe" });
  const [output, errors, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (exitCode === 0) return output;
  throw new Error(`the checkout cannot be described: ${errors.trim().split("\n").at(-1) || `exit code ${exitCode}`}`);
}

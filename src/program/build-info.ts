import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type BuildInfo, buildInfoSchema, type Notice, noticeSchema } from "./contents.ts";
import { embedded } from "./embedded.ts";
import { checkout } from "./own-program.ts";

/** Returns the components of this program: embedded when it is compiled, else read from the checkout. */
export async function buildInfo(): Promise<BuildInfo> {
  return embedded?.build ?? Value.Parse(buildInfoSchema, JSON.parse(await describeCheckout("build")));
}

/** Returns the commit that `buildInfo` contains, without reading the other components, which takes longer. */
export async function buildCommit(): Promise<string> {
  return (
    embedded?.build.commit ??
    Value.Parse(buildInfoSchema.properties.commit, JSON.parse(await describeCheckout("commit")))
  );
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
async function describeCheckout(what: "build" | "commit" | "notices" | "sbom"): Promise<string> {
  const tool = join(checkout, "tools/build/describe.ts");
  const child = Bun.spawn([process.execPath, "--no-env-file", tool, what], { cwd: checkout, stderr: "pipe" });
  const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
  const [output = "", errors = ""] = await Promise.all(texts);
  const exitCode = await child.exited;
  if (exitCode === 0) return output;
  throw new Error(`the checkout cannot be described: ${errors.trim().split("\n").at(-1) || `exit code ${exitCode}`}`);
}

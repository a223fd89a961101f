import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { nativeDirectory } from "../../../native/build.ts";
import { patchFiles } from "../../../native/steps/source.ts";
import { withPart } from "./pages.ts";

/**
 * Returns what the patches of native/ say of themselves in their first two lines, and the files that they change, in the
 * order in which they apply.
 * @throws {Error} when a patch does not start with a line "Why: …" and a line "Upstream: …"
 */
export async function patchHeads() {
  const paths = await Promise.all([nativeDirectory, join(nativeDirectory, "vulkan")].map(patchFiles));
  return await Promise.all(
    paths.flat().map(async (file) => {
      const text = await readFile(file, "utf8");
      const path = relative(nativeDirectory, file);
      const [, why, upstream] = /^Why: (.+)\nUpstream: (.+)\n\n/.exec(text) ?? [];
      if (why === undefined || upstream === undefined) {
        throw new Error(`${path} must start with "Why: …" and "Upstream: …"`);
      }
      const files = [...text.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, changed = ""]) => basename(changed));
      return { path, why, upstream, files };
    }),
  );
}

/** Returns native/README.md with its table of patches replaced. @param text the current page */
export async function nativeReadme(text: string): Promise<string> {
  const rows = (await patchHeads()).map(
    ({ path, why, upstream, files }) =>
      `| ${path.replace("patches/", "").replace(".patch", "")} | ${files.join(", ")} | ${why} | ${upstream} |`,
  );
  return withPart(text, "patches", ["| patch | changes | why | upstream |", "|---|---|---|---|", ...rows].join("\n"));
}

import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defaultCacheRoot, nativeDirectory, repository } from "../../../native/build.ts";
import { progressLines } from "../../../native/steps/cmake.ts";
import { inCache } from "../../../native/steps/in-cache.ts";
import { patchFiles, prepareSource } from "../../../native/steps/source.ts";
import { targetsOf } from "../../../native/steps/target.ts";
import { findTools, runTool } from "../../../native/steps/tools.ts";

const program = "load-models";

/** Builds the loader of models with AddressSanitizer, unless the cache has it, and returns the program's path. */
export async function buildLoader(log: (line: string) => void): Promise<string> {
  const [target] = targetsOf(process.arch);
  if (target === undefined) throw new Error(`nothing is compiled on ${process.arch}`);
  const tools = await findTools(target);
  const hash = createHash("sha256").update(tools.compilerVersion);
  const own = ["CMakeLists.txt", `${program}.cpp`].map((name) => join(import.meta.dir, name));
  for (const file of [...own, ...(await patchFiles(nativeDirectory))]) hash.update(await readFile(file));
  const key = hash.digest("hex").slice(0, 16);
  const directory = await inCache(join(defaultCacheRoot(), "fuzz", key), log, async (work) => {
    const source = await prepareSource({ repository, nativeDirectory, into: join(work, "source") });
    const out = join(work, "out");
    const generator = tools.ninja === undefined ? [] : ["-G", "Ninja"];
    await runTool(
      [tools.cmake, "-S", import.meta.dir, "-B", out, ...generator, `-DWHISPER_SOURCE=${source}`],
      () => {},
    );
    log("fuzz: compiling the loader, two minutes");
    const parallel = String(availableParallelism());
    await runTool([tools.cmake, "--build", out, "--target", program, "--parallel", parallel], progressLines(log));
    const made = join(work, "made");
    await mkdir(made);
    await Bun.write(join(made, program), Bun.file(join(out, program)));
    await runTool(["chmod", "755", join(made, program)], () => {});
    return made;
  });
  return join(directory, program);
}

import { cp, readFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { nativeDirectory, repository } from "../../native/build.ts";
import { applyPatch } from "../../native/steps/apply-patch.ts";
import { patchFiles, whisperSource } from "../../native/steps/source.ts";
import { messageOf } from "../../src/text/index.ts";
import { defineCommand, runCommandLine } from "../shared/command.ts";
import { UsageError } from "../shared/options.ts";

/** Parts of whisper.cpp's tree that patches change. */
const PATCHED_PARTS = ["CMakeLists.txt", "ggml", "include", "src"];

/**
 * Applies all patches to a copy of a tree and reports each of them. A patch that does not fit leaves its files as they
 * were, so that later patches can still be checked.
 */
async function checkPatches(tree: string): Promise<boolean> {
  using directory = temporaryDirectory();
  const copy = directory.path;
  for (const part of PATCHED_PARTS) await cp(join(tree, part), join(copy, part), { recursive: true });
  const patches = [...(await patchFiles(nativeDirectory)), ...(await patchFiles(join(nativeDirectory, "vulkan")))];
  let failed = 0;
  for (const patch of patches) {
    const name = relative(nativeDirectory, patch);
    try {
      await applyPatch(copy, await readFile(patch, "utf8"));
      console.log(`applies  ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILS    ${name}: ${messageOf(error)}`);
    }
  }
  console.log(`${patches.length - failed} of ${patches.length} patches apply to ${basename(tree)}`);
  return failed === 0;
}

const command = defineCommand({
  name: "scripts/check-patches",
  about: "Reports which of native/'s patches apply to a tree of whisper.cpp.",
  options: {},
  names: "DIRECTORY",
  async run(_, [directory = whisperSource(repository), ...rest]) {
    if (rest.length > 0) throw new UsageError("one DIRECTORY can be checked");
    const tree = resolve(directory);
    if (!(await Bun.file(join(tree, "src", "whisper.cpp")).exists())) {
      throw new UsageError(`${tree} is no tree of whisper.cpp: src/whisper.cpp is missing`);
    }
    process.exitCode = (await checkPatches(tree)) ? 0 : 1;
  },
});
await runCommandLine(command, process.argv.slice(2));

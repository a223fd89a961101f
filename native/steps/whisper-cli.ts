import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { whisperSource } from "./source.ts";
import { type NativeTools, runTool } from "./tools.ts";

/** The sources of whisper.cpp's command line program. */
const sources = ["cli/cli.cpp", "common.cpp", "common-ggml.cpp", "common-whisper.cpp", "grammar-parser.cpp"];

/**
 * Compiles whisper-cli into a new directory and links it against the libraries of the addon. A comparison then measures
 * only the program around the libraries. The program finds them through symbolic links in its own directory.
 *
 * @returns the directory
 */
export async function buildWhisperCli(options: {
  repository: string;
  libraries: string;
  into: string;
  tools: NativeTools;
}): Promise<string> {
  await mkdir(options.into, { recursive: true });
  for (const name of await readdir(options.libraries)) {
    await symlink(join(options.libraries, name), join(options.into, name));
  }
  const tree = whisperSource(options.repository);
  const examples = join(tree, "examples");
  await runTool(
    [
      ...[options.tools.compiler, "-std=c++17", "-O3", "-DNDEBUG", "-w"],
      ...[join(tree, "include"), join(tree, "ggml", "include"), examples].map((path) => `-I${path}`),
      ...sources.map((source) => join(examples, source)),
      ...["-o", join(options.into, "whisper-cli"), `-L${options.libraries}`, "-Wl,-rpath,$ORIGIN"],
      ...["-lwhisper", "-lggml", "-lggml-base", "-pthread"],
    ],
    () => {},
  );
  return options.into;
}

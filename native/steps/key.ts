import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { whisperSource } from "./source.ts";
import type { NativeTools } from "./tools.ts";

/**
 * The name of a build: a hash of all that shapes it, so that the same input finds the same build and any change
 * makes another one.
 *
 * Part of it are the files of native/ but for these scripts, which decide on no flag, the version of the package that
 * brings whisper.cpp, the compiler and the kind of machine that is compiled for.
 */
export async function nativeKey(options: {
  nativeDirectory: string;
  repository: string;
  tools: NativeTools;
  /** What is compiled for, by Node's name. */
  architecture: string;
}): Promise<string> {
  const hash = createHash("sha256");
  const packageFile = join(whisperSource(options.repository), "..", "..", "package.json");
  const { version }: { version: string } = JSON.parse(await readFile(packageFile, "utf8"));
  hash.update(JSON.stringify([options.architecture, process.platform, options.tools.compilerVersion, version]));
  const names = await readdir(options.nativeDirectory, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) {
    const content = await readFile(file);
    hash.update(JSON.stringify([file.slice(options.nativeDirectory.length), content.length]));
    hash.update(content);
  }
  return hash.digest("hex").slice(0, 16);
}

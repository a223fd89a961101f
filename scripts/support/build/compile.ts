import { chmod, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bundlePage } from "../../../src/console/index.ts";
import { makeCacheEntry } from "../../../src/models/cache-entry.ts";
import type { Embedded } from "../../../src/program/index.ts";
import { digestFile } from "../../../src/program/index.ts";
import { root } from "../checkout.ts";
import { embeddedPage, embedding, onnxBinding } from "./plugins.ts";

export interface CompileOptions {
  readonly embedded: Embedded;
  /** What `process.platform` and `process.arch` are in it, which the compiler writes out. */
  readonly target: Bun.Build.CompileTarget;
  /** The Bun program that becomes part of the file. */
  readonly bun: string;
  /** Replaced in one step when all is done. */
  readonly outfile: string;
  /** Told of the files that code was taken from, relative to the checkout; when it throws, nothing is replaced. */
  readonly check: (inputs: readonly string[]) => void;
}

/** Compiles the program into one file. */
export async function compile({ embedded, target, bun, outfile, check }: CompileOptions): Promise<void> {
  // The file's name is part of what is written, so it is the same while it is written.
  const temporary = join(dirname(outfile), `.${process.pid}`, "transcribe");
  await mkdir(dirname(temporary), { recursive: true });
  try {
    const page = await bundlePage();
    const { metafile } = await Bun.build({
      entrypoints: [join(root, "src/main.ts")],
      root,
      target: "bun",
      format: "esm",
      // Halves the time to the first answer (200 → 95 ms), for 9 MB.
      bytecode: true,
      // Comments name paths of the machine that compiles.
      minify: { whitespace: true },
      // So does this, which two packages look beside for files that are never used here.
      define: { __dirname: '"/"' },
      // Stack traces name our files and lines.
      sourcemap: "inline",
      metafile: true,
      // Fonts and WebAssembly are looked for by their names.
      naming: { asset: "[name].[ext]" },
      plugins: [embedding(embedded), embeddedPage(page), onnxBinding()],
      compile: {
        outfile: temporary,
        target,
        executablePath: bun,
        // What lies in the directory that it is started in has no say.
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    });
    check([...Object.keys(metafile?.inputs ?? {}), ...page.inputs]);
    await rename(temporary, outfile);
  } finally {
    await rm(dirname(temporary), { recursive: true, force: true });
  }
}

/**
 * The content of a list of checksums after a program was built: its line is new, those of what was made from an older one of
 * it are gone, and so are those of files that are gone.
 * @param list as it was
 * @param program name of the file that was built
 * @param exists whether a file of the list is there
 */
export function renewChecksums(
  list: string,
  program: { readonly name: string; readonly sha256: string },
  exists: (name: string) => boolean,
): string {
  const others = list.split("\n").filter((line) => {
    const name = /^[0-9a-f]{64} {2}(\S+)$/.exec(line)?.[1];
    return name !== undefined && name !== program.name && !name.startsWith(`${program.name}.`) && exists(name);
  });
  return [...others, `${program.sha256}  ${program.name}`].map((line) => `${line}\n`).join("");
}

/**
 * Variables by which whoever starts a compiled program could make it another one: BUN_BE_BUN turns it into plain Bun
 * before any of our code runs, BUN_OPTIONS loads code of the current directory, and the last has a crash sent to Bun's
 * makers. No option of the compiler leaves them out.
 */
const ignoredVariables = ["BUN_BE_BUN", "BUN_OPTIONS", "BUN_ENABLE_CRASH_REPORTING"];

/**
 * A copy of a Bun program that does not hear these variables: in the names that it asks the environment for, which stand in
 * it once each as C strings, the first character is made their end. No variable has an empty name.
 * @returns its path in the cache
 */
export async function patchedBun(bun: string, cacheRoot: string): Promise<string> {
  const entry = join("deaf-bun", `${await digestFile(bun, "sha256")}-${ignoredVariables.join("-")}`);
  const kept = join(cacheRoot, entry, "bun");
  if (await Bun.file(kept).exists()) return kept;
  const program = Buffer.from(await Bun.file(bun).arrayBuffer());
  for (const name of ignoredVariables) program[onlyPlaceOf(name, program)] = 0;
  const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
    await Bun.write(join(directory, "bun"), program);
    await chmod(join(directory, "bun"), 0o755);
  });
  return join(folder, "bun");
}

function onlyPlaceOf(name: string, program: Buffer): number {
  const asCString = Buffer.from(`\0${name}\0`);
  const place = program.indexOf(asCString);
  if (place < 0 || program.indexOf(asCString, place + 1) >= 0) {
    throw new Error(`Bun ${Bun.version} does not have ${name} in it once; see how it reads that variable now`);
  }
  return place + 1;
}

import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { bundlePage } from "../../src/console/index.ts";
import { makeCacheEntry } from "../../src/files/index.ts";
import { digestFile, type Embedded } from "../../src/program/index.ts";
import { root } from "../shared/checkout.ts";
import { embeddedPage, embedding, onnxBinding, packedFonts } from "./plugins.ts";

export interface CompileOptions {
  readonly embedded: Embedded;
  /** `process.platform` and `process.arch` of the program, which the compiler inserts as constants. */
  readonly target: Bun.Build.CompileTarget;
  readonly bun: string;
  /** Path of the new inner program. Its name is part of its content. */
  readonly outfile: string;
  /** The cache of packed files. */
  readonly cacheRoot: string;
  /** Receives the files that code was taken from, relative to the checkout; when it throws, the build fails. */
  readonly check: (inputs: readonly string[]) => void;
}

/** Compiles the inner program: Bun and all code, with fonts, notices and the bill of materials. */
export async function compile({ embedded, target, bun, outfile, cacheRoot, check }: CompileOptions): Promise<void> {
  const page = await bundlePage();
  const { metafile } = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    root,
    target: "bun",
    format: "esm",
    // Halves the time to the first response (200 → 95 ms), for 9 MB.
    bytecode: true,
    // Removes comments, which contain paths of the build machine.
    minify: { whitespace: true },
    // __dirname contains such a path, too. Two packages use it to look for files that this program never needs.
    define: { __dirname: '"/"' },
    // Stack traces contain our files and lines.
    sourcemap: "inline",
    metafile: true,
    // Fonts and WebAssembly are found by their names.
    naming: { asset: "[name].[ext]" },
    plugins: [embedding(embedded), embeddedPage(page), packedFonts(cacheRoot), onnxBinding()],
    compile: {
      outfile,
      target,
      executablePath: bun,
      // Files of the current directory have no effect on the program.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  check([...Object.keys(metafile?.inputs ?? {}), ...page.inputs]);
}

/**
 * Variables that would change a compiled program. BUN_BE_BUN turns it into plain Bun before our code runs, BUN_OPTIONS
 * loads code of the current directory, and BUN_ENABLE_CRASH_REPORTING sends crashes to Bun's developers. The compiler
 * has no option against them.
 */
const ignoredVariables = ["BUN_BE_BUN", "BUN_OPTIONS", "BUN_ENABLE_CRASH_REPORTING"];

/**
 * Returns a copy of a Bun program that ignores these variables. Their names occur once each in the program as C
 * strings. The first character of each is replaced by the terminator, because no variable has an empty name.
 */
export async function patchedBun(bun: string, cacheRoot: string): Promise<string> {
  const entry = join("patched-bun", `${await digestFile(bun, "sha256")}-${ignoredVariables.join("-")}`);
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
    throw new Error(
      `Bun ${Bun.version} does not contain ${name} exactly once; check how this version reads the variable`,
    );
  }
  return place + 1;
}

import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { BunPlugin } from "bun";
import { root } from "../shared/checkout.ts";

/** Expressions in modules that depend on the place of the module's file. */
const PLACES: readonly (readonly [file: string, expression: string])[] = [
  ["src/program/own-program.ts", "import.meta.dir"],
  ["src/console/server/bundle-page.ts", "import.meta.dir"],
];
/** The path of the program's entry, from which it starts its child processes. */
const ENTRY = 'join(checkout, "src/main.ts")';
/** Files that the program reads by their paths. */
const READ_BY_PATH = /\.(?:ttf|wasm|png|css)$|swagger-ui-bundle\.js$/;

/**
 * Bundles the program, so that tests start it without transpiling and resolving hundreds of modules: a command of the
 * CLI starts in half the CPU time. It runs from the checkout's files like the source does.
 */
export async function programBundle(): Promise<string> {
  const directory = join(root, "build/test-program");
  const temporary = `${directory}-${process.pid}`;
  const entry = join(directory, "main.js");
  await bundle(join(root, "src/main.ts"), temporary, entry);
  await rm(directory, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await rename(temporary, directory);
  return entry;
}

/**
 * Bundles a script that a test starts often, as `programBundle` bundles the program. The bundle finds the files of the
 * checkout, but no package that is left out of bundles.
 */
export async function scriptBundle(script: string, directory: string): Promise<string> {
  await bundle(script, directory, null);
  return join(directory, `${basename(script, extname(script))}.js`);
}

/** @param program path of the program's entry, see `atTheirPlaces` */
async function bundle(entry: string, directory: string, program: string | null): Promise<void> {
  const { success, logs } = await Bun.build({
    entrypoints: [entry],
    outdir: directory,
    target: "bun",
    splitting: true,
    // These packages find their addon and their WebAssembly next to their own code.
    external: ["onnxruntime-node", "harfbuzzjs"],
    plugins: [atTheirPlaces(program)],
  });
  if (!success) throw new Error(`${entry} cannot be bundled: ${logs.join("\n")}`);
}

/** Makes modules find the checkout's files, and the program's child processes the bundle. */
function atTheirPlaces(entry: string | null): BunPlugin {
  return {
    name: "at-their-places",
    setup(builder) {
      for (const [file, expression] of PLACES) {
        const path = join(root, file);
        builder.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, async () => {
          const text = await Bun.file(path).text();
          if (!text.includes(expression)) throw new Error(`${file} no longer contains ${expression}`);
          const placed = text.replaceAll(expression, JSON.stringify(dirname(path)));
          const contents = entry === null ? placed : placed.replaceAll(ENTRY, JSON.stringify(entry));
          return { contents, loader: "ts" };
        });
      }
      builder.onLoad({ filter: READ_BY_PATH }, ({ path }) => ({
        contents: `export default ${JSON.stringify(path)};`,
        loader: "js",
      }));
    },
  };
}

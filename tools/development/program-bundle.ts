import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import { root } from "../shared/checkout.ts";

/** Expressions in modules that depend on the place of the module's file. */
const PLACES: readonly (readonly [file: string, expression: string])[] = [
  ["src/program/own-program.ts", "import.meta.dir"],
  ["src/console/bundle-page.ts", "import.meta.dir"],
];
/** The path of the program's entry, from which it starts its child processes. */
const ENTRY = 'join(checkout, "src/main.ts")';
/** Files that the program reads by their paths. */
const READ_BY_PATH = /\.(?:ttf|wasm|png|css)$|swagger-ui-bundle\.js$/;

/**
 * Bundles the program, so that tests start it without transpiling and resolving hundreds of modules: a command of the
 * CLI starts in half the CPU time. It runs from the checkout's files like the source does.
 * @returns the path of its entry
 */
export async function programBundle(): Promise<string> {
  const directory = join(root, "build/test-program");
  const temporary = `${directory}-${process.pid}`;
  const { success, logs } = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    outdir: temporary,
    target: "bun",
    splitting: true,
    // These packages find their addon and their WebAssembly next to their own code.
    external: ["onnxruntime-node", "harfbuzzjs"],
    plugins: [atTheirPlaces(join(directory, "main.js"))],
  });
  if (!success) throw new Error(`the program cannot be bundled: ${logs.join("\n")}`);
  await rm(directory, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await rename(temporary, directory);
  return join(directory, "main.js");
}

/** Makes modules find the checkout's files, and the program's child processes the bundle. */
function atTheirPlaces(entry: string): BunPlugin {
  return {
    name: "at-their-places",
    setup(builder) {
      for (const [file, expression] of PLACES) {
        const path = join(root, file);
        builder.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, async () => {
          const text = await Bun.file(path).text();
          if (!text.includes(expression)) throw new Error(`${file} no longer contains ${expression}`);
          const contents = text
            .replaceAll(expression, JSON.stringify(dirname(path)))
            .replaceAll(ENTRY, JSON.stringify(entry));
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

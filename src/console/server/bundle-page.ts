import { createHash } from "node:crypto";
import { basename, extname, join } from "node:path";
import type { BunPlugin } from "bun";
import { routes } from "../contract/index.ts";

/** A file that the page loads. */
export interface ConsoleFile {
  /** Media type. */
  readonly type: string;
  readonly text: string;
}

/** The page and the files that it loads. The name of each file contains a hash of its content. */
export interface ConsoleAssets {
  /** HTML. Its URLs are relative to `/console/`, so that the page works behind a proxy that adds a path prefix. */
  readonly page: string;
  /** Files by name under `/console/assets/`: `page.HASH.js`, `worklet.HASH.js`. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

interface BundledPage extends ConsoleAssets {
  /** Source files in the bundle, relative to the checkout. */
  readonly inputs: readonly string[];
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** The entry points of the bundle: the page, and the code that records sound in the browser's audio thread. */
const PAGE = "../page/main.tsx";
const WORKLET = "../page/live/capture-worklet.ts";

/** Replaces the contract by the methods and paths of its routes: the browser needs no schema. */
const routesOnly: BunPlugin = {
  name: "routes-only",
  setup(builder) {
    const addresses = Object.entries(routes).map(([name, { at }]) => [name, { at }]);
    const contents = `export const routes = ${JSON.stringify(Object.fromEntries(addresses))};`;
    builder.onLoad({ filter: /\/console\/contract\/index\.ts$/ }, () => ({ contents, loader: "js" }));
  },
};

/**
 * Bundles the console's page from the sources in src/console/page.
 * @throws {AggregateError} with the bundler's messages
 */
export async function bundlePage(): Promise<BundledPage> {
  const worklet = await bundle("worklet", WORKLET, {});
  const [workletName = ""] = worklet.files.keys();
  // The page loads the worklet when a person starts to record.
  const page = await bundle("page", PAGE, { CAPTURE_WORKLET: JSON.stringify(workletName) });
  return {
    page: pageOf([...page.files.keys()]),
    files: new Map([...page.files, ...worklet.files]),
    inputs: [...page.inputs, ...worklet.inputs],
  };
}

/**
 * Bundles one entry point.
 * @param name beginning of the files' names
 * @param define values of names that the code does not declare, as source text
 */
async function bundle(
  name: string,
  entry: string,
  define: Readonly<Record<string, string>>,
): Promise<Pick<BundledPage, "files" | "inputs">> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(import.meta.dir, entry)],
    root: join(import.meta.dir, "../../.."),
    target: "browser",
    minify: true,
    metafile: true,
    plugins: [routesOnly],
    define,
  });
  const files = new Map<string, ConsoleFile>();
  for (const output of outputs) {
    const text = await output.text();
    const extension = extname(output.path);
    const type = types[extension];
    if (type === undefined) throw new Error(`the page has a file of an unknown type: ${basename(output.path)}`);
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
    files.set(`${name}.${hash}${extension}`, { type, text });
  }
  return { files, inputs: Object.keys(metafile?.inputs ?? {}) };
}

/** Favicon of the page: three lines of a transcript, with the second line highlighted. */
const icon = [
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>",
  "<path stroke='%230f6478' stroke-width='2' stroke-linecap='round' d='M2 8h8'/>",
  "<path stroke='%23999' stroke-width='2' stroke-linecap='round' d='M2 3.5h12M2 12.5h10'/></svg>",
].join("");

function pageOf(names: readonly string[]): string {
  const named = (extension: string) => names.filter((name) => name.endsWith(extension));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Transcribe</title>
<link rel="icon" href="data:image/svg+xml,${icon}">
${named(".css")
  .map((name) => `<link rel="stylesheet" href="assets/${name}">`)
  .join("")}
</head>
<body>
<noscript>The console needs JavaScript. The command line offers the same: transcribe --help.</noscript>
<div id="app"></div>
${named(".js")
  .map((name) => `<script type="module" src="assets/${name}"></script>`)
  .join("")}
</body>
</html>
`;
}

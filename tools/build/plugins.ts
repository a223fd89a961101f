import { join } from "node:path";
import type { BunPlugin } from "bun";
import type { ConsoleAssets } from "../../src/console/index.ts";
import type { Embedded } from "../../src/program/index.ts";
import { root } from "../shared/checkout.ts";
import { packFile } from "./parts.ts";

// The output of plugins becomes part of the source maps, so it must not contain paths of the build machine. It contains
// names, which the plugins resolve.

/** Replaces src/program/embedded.ts by the embedded data; its files are paths of this machine. */
export function embedding({ build, parts, notices, sbom }: Embedded): BunPlugin {
  const files = [notices, sbom];
  const contents = `import notices from "embedded:0" with { type: "file" };
import sbom from "embedded:1" with { type: "file" };
const { build, parts } = ${JSON.stringify({ build, parts })};
export const embedded = { build, parts, notices, sbom };
`;
  const module = new RegExp(`^${RegExp.escape(join(root, "src/program/embedded.ts"))}$`);
  return {
    name: "embedding",
    setup(builder) {
      builder.onLoad({ filter: module }, () => ({ contents, loader: "ts" }));
      builder.onResolve({ filter: /^embedded:/ }, ({ path }) => ({
        path: `${path.slice("embedded:".length)}.part`,
        namespace: "embedded",
      }));
      builder.onLoad({ filter: /./, namespace: "embedded" }, async ({ path }) => {
        const file = files[Number.parseInt(path, 10)];
        if (file === undefined) throw new Error(`the program does not contain ${path}`);
        return { contents: await Bun.file(file).bytes(), loader: "file" };
      });
    },
  };
}

/** Compresses the font files, which src/exports/pdf/face.ts reads. */
export function packedFonts(cacheRoot: string): BunPlugin {
  return {
    name: "packed-fonts",
    setup(builder) {
      builder.onLoad({ filter: /\.ttf$/ }, async ({ path }) => {
        const { packed } = await packFile(path, cacheRoot);
        return { contents: await Bun.file(packed).bytes(), loader: "file" };
      });
    },
  };
}

/** Replaces src/console/server/assets.ts, which bundles the console's page at run time, by the bundled page. */
export function embeddedPage({ page, files }: ConsoleAssets): BunPlugin {
  const module = new RegExp(`^${RegExp.escape(join(root, "src/console/server/assets.ts"))}$`);
  const contents = `const files = new Map(${JSON.stringify([...files])});
const assets = { page: ${JSON.stringify(page)}, files };
export const consoleAssets = () => Promise.resolve(assets);
`;
  return {
    name: "embedded-page",
    setup(builder) {
      builder.onLoad({ filter: module }, () => ({ contents, loader: "ts" }));
    },
  };
}

/** Replaces the path from which ONNX Runtime's package requires its addon by the unpacked addon. */
export function onnxBinding(): BunPlugin {
  const loader = join(root, "src/runtimes/onnx-runtime.ts");
  return {
    name: "onnx-binding",
    setup(builder) {
      builder.onLoad({ filter: /\/onnxruntime-node\/dist\/binding\.js$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        const required = /require\(`\.\.\/bin\/[^`]+\.node`\)/;
        if (!required.test(text)) throw new Error(`${path} no longer requires the addon in the expected way`);
        return { contents: text.replace(required, 'require("onnx-binding").loadOnnxBinding()'), loader: "js" };
      });
      builder.onResolve({ filter: /^onnx-binding$/ }, () => ({ path: loader }));
    },
  };
}

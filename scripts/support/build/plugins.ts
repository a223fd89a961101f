import { join } from "node:path";
import type { BunPlugin } from "bun";
import type { ConsoleAssets } from "../../../src/console/index.ts";
import type { Embedded } from "../../../src/program/index.ts";
import { root } from "../checkout.ts";

// What plugins write becomes part of the source maps, so it names no path of the machine that compiles: paths are given
// names, and the names are resolved.

/** Puts what the program carries in the place of src/program/embedded.ts; parts and notices are paths of this machine. */
export function embedding({ build, parts, notices }: Embedded): BunPlugin {
  const files = [...parts.map(({ packed }) => packed), notices];
  const imports = files.map((_, index) => `import file${index} from "carried:${index}" with { type: "file" };`);
  const list = parts.map(({ packed: _, ...part }, index) => `{ ...${JSON.stringify(part)}, packed: file${index} }`);
  const contents = `${imports.join("\n")}
export const embedded = {
  build: ${JSON.stringify(build)},
  parts: [${list.join(", ")}],
  notices: file${parts.length},
};
`;
  const module = new RegExp(`^${RegExp.escape(join(root, "src/program/embedded.ts"))}$`);
  return {
    name: "embedding",
    setup(builder) {
      builder.onLoad({ filter: module }, () => ({ contents, loader: "ts" }));
      builder.onResolve({ filter: /^carried:/ }, ({ path }) => ({
        path: `${path.slice(8)}.part`,
        namespace: "carried",
      }));
      builder.onLoad({ filter: /./, namespace: "carried" }, async ({ path }) => {
        const file = files[Number.parseInt(path, 10)];
        if (file === undefined) throw new Error(`the program does not carry ${path}`);
        return { contents: await Bun.file(file).bytes(), loader: "file" };
      });
    },
  };
}

/** Replaces src/console/assets.ts, which bundles the console's page when it runs, by the page as it is bundled now. */
export function embeddedPage({ page, files }: ConsoleAssets): BunPlugin {
  const module = new RegExp(`^${RegExp.escape(join(root, "src/console/assets.ts"))}$`);
  const contents = `const files = new Map(${JSON.stringify([...files])});
const assets = { page: ${JSON.stringify(page)}, files };
export const consoleAssets = () => Promise.resolve(assets);
`;
  return {
    name: "carried-page",
    setup(builder) {
      builder.onLoad({ filter: module }, () => ({ contents, loader: "ts" }));
    },
  };
}

/** ONNX Runtime's package requires its addon from beside its own code; the compiled program loads the unpacked one. */
export function onnxBinding(): BunPlugin {
  const loader = join(root, "src/speech/onnx-runtime.ts");
  return {
    name: "onnx-binding",
    setup(builder) {
      builder.onLoad({ filter: /\/onnxruntime-node\/dist\/binding\.js$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        const required = /require\(`\.\.\/bin\/[^`]+\.node`\)/;
        if (!required.test(text)) throw new Error(`${path} does not require the addon as it did`);
        return { contents: text.replace(required, 'require("onnx-binding").loadOnnxBinding()'), loader: "js" };
      });
      builder.onResolve({ filter: /^onnx-binding$/ }, () => ({ path: loader }));
    },
  };
}

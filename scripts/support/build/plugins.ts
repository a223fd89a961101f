import { join } from "node:path";
import type { BunPlugin } from "bun";
import type { Embedded } from "../../../src/program/index.ts";
import { root } from "../checkout.ts";

/** Puts what the program carries in the place of src/program/embedded.ts; parts and notices are paths of this machine. */
export function embedding({ build, parts, notices }: Embedded): BunPlugin {
  const files = [...parts.map(({ packed }) => packed), notices];
  const imports = files.map((file, index) => `import file${index} from ${JSON.stringify(file)} with { type: "file" };`);
  const list = parts.map(({ packed: _, ...part }, index) => `{ ...${JSON.stringify(part)}, packed: file${index} }`);
  const contents = `${imports.join("\n")}
export const embedded = {
  build: ${JSON.stringify(build)},
  parts: [${list.join(", ")}],
  notices: file${parts.length},
};
`;
  return replacing("embedded", join(root, "src/program/embedded.ts"), contents);
}

/** ONNX Runtime's package requires its addon from beside its own code; the compiled program loads the unpacked one. */
export function onnxBinding(): BunPlugin {
  const loader = join(root, "src/engine/diarization/onnx-binding.ts");
  return {
    name: "onnx-binding",
    setup(build) {
      build.onLoad({ filter: /\/onnxruntime-node\/dist\/binding\.js$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        const required = /require\(`\.\.\/bin\/[^`]+\.node`\)/;
        if (!required.test(text)) throw new Error(`${path} does not require the addon as it did`);
        const call = `require(${JSON.stringify(loader)}).loadOnnxBinding()`;
        return { contents: text.replace(required, call), loader: "js" };
      });
    },
  };
}

function replacing(name: string, file: string, contents: string): BunPlugin {
  return {
    name,
    setup(build) {
      build.onLoad({ filter: new RegExp(`^${RegExp.escape(file)}$`) }, () => ({ contents, loader: "ts" }));
    },
  };
}

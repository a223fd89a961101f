import { join } from "node:path";
import { loadSettings } from "../../../src/config/index.ts";
import { openApiDocument } from "../../../src/http/api/openapi/index.ts";
import { root } from "../../shared/checkout.ts";
import { describeApi } from "./describe-api.ts";
import { pythonOperations, pythonTypes } from "./python.ts";
import { typescriptOperations, typescriptTypes } from "./typescript.ts";

export const sdkFolder = join(root, "sdk");

/** Returns the generated files of the client packages by their paths in the folder `sdk`. */
export function generatedFiles(): Readonly<Record<string, string>> {
  const { limits } = loadSettings({ file: undefined, environment: {}, flags: {} });
  const api = describeApi(openApiDocument(limits, []));
  return {
    "typescript/src/types.ts": typescriptTypes(api),
    "typescript/src/operations.ts": typescriptOperations(api),
    "python/transcribe_sdk/types.py": pythonTypes(api),
    "python/transcribe_sdk/operations.py": pythonOperations(api),
  };
}

export async function generate(): Promise<void> {
  for (const [path, text] of Object.entries(generatedFiles())) await Bun.write(join(sdkFolder, path), text);
}

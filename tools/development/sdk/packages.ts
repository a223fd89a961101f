import { cp } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { loadSettings } from "../../../src/config/index.ts";
import { openApiDocument } from "../../../src/http/api/openapi/index.ts";
import { programVersion } from "../../../src/program/index.ts";
import { root } from "../../shared/checkout.ts";
import { askPython, installPythonPackages } from "../../shared/python.ts";
import { runCommand } from "../../shared/run-command.ts";
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

/** Version in the sources of both packages, which packing replaces. */
const PLACEHOLDER = '"0.0.0"';

/** Packs the TypeScript package. The same sources give the same bytes. @returns the tarball's name in `to` */
export async function packTypescript(to: string): Promise<string> {
  const name = `transcribe-sdk-${programVersion}.tgz`;
  await withCopy("typescript", "package.json", async (folder) => {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const types = ["--typeRoots", join(root, "node_modules/@types")];
    await runCommand([process.execPath, compiler, "-p", folder, "--outDir", join(folder, "dist"), ...types]);
    await runCommand([process.execPath, "pm", "pack", "--quiet", "--destination", to], { cwd: folder });
  });
  return name;
}

/** Packs the Python package as a wheel. The same sources give the same bytes. @returns the wheel's name in `to` */
export async function packPython(to: string, cacheRoot: string): Promise<string> {
  const backend = await installPythonPackages(cacheRoot, {
    name: "sdk-build",
    packages: ["flit_core"],
    constraints: join(import.meta.dir, "constraints.txt"),
    timeoutMilliseconds: 120_000,
  });
  return withCopy("python", "pyproject.toml", (folder) =>
    askPython(join(import.meta.dir, "build-wheel.py"), backend, { folder, to }, Type.String()),
  );
}

/** Copies a package, enters the program's version, adds the licence, and removes the copy after the work. */
async function withCopy<T>(language: string, manifest: string, work: (folder: string) => Promise<T>): Promise<T> {
  using copy = temporaryDirectory();
  const folder = copy.path;
  await cp(join(sdkFolder, language), folder, { recursive: true });
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  const file = Bun.file(join(folder, manifest));
  await file.write((await file.text()).replace(PLACEHOLDER, JSON.stringify(programVersion)));
  return await work(folder);
}

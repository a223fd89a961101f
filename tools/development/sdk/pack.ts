import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { programVersion } from "../../../src/program/index.ts";
import { root } from "../../shared/checkout.ts";
import { askPython, installPythonPackages } from "../../shared/python.ts";
import { runCommand } from "../../shared/run-command.ts";
import { sdkFolder } from "./generate.ts";

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
  const folder = await mkdtemp(join(tmpdir(), "transcribe-sdk-"));
  try {
    await cp(join(sdkFolder, language), folder, { recursive: true });
    await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
    const file = Bun.file(join(folder, manifest));
    await file.write((await file.text()).replace(PLACEHOLDER, JSON.stringify(programVersion)));
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

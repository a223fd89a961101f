import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { packPython, packTypescript } from "../../tools/development/sdk/packages.ts";
import { CommandError, runCommand } from "../../tools/shared/run-command.ts";

/** A program that runs scripts with an installed client package. */
export interface SdkRuntime {
  readonly name: string;
  readonly program: string;
  /** Language of its scripts, in which documentation names it. */
  readonly language: "ts" | "python";
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Packs the TypeScript client and installs it into an empty folder, without a network. Scripts must lie below the
 * folder. @returns the runtimes; Node is missing where it is not installed
 */
export async function installTypescriptSdk(folder: string): Promise<SdkRuntime[]> {
  const tarball = await packTypescript(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const npm = Bun.which("npm") !== null && Bun.which("node") !== null;
  const install = npm
    ? ["npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"]
    : [process.execPath, "add", "--no-save"];
  await runCommand([...install, `./${tarball}`], { cwd: folder });
  const runtimes: SdkRuntime[] = [{ name: "Bun", program: process.execPath, language: "ts", environment: {} }];
  if (npm) runtimes.push({ name: "Node", program: "node", language: "ts", environment: {} });
  else console.warn("SKIPPED: tests of the TypeScript client in Node; there is no node or npm");
  return runtimes;
}

/** Packs the Python client and installs the wheel into an empty folder, without a network. */
export async function installPythonSdk(folder: string): Promise<SdkRuntime[]> {
  if (Bun.which("python3") === null) {
    console.warn("SKIPPED: tests of the Python client; there is no python3");
    return [];
  }
  const wheel = await packPython(folder, defaultCacheRoot()).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: tests of the Python client; its build backend cannot be installed: ${error.message}`);
    return null;
  });
  if (wheel === null) return [];
  const packages = join(folder, "packages");
  mkdirSync(packages);
  const pip = ["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
  await runCommand([...pip, "--no-index", "--no-deps", "--target", packages, join(folder, wheel)]);
  const environment = { PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" };
  return [{ name: "Python", program: "python3", language: "python", environment }];
}

/** Writes a script for a runtime. @param folder where the package is installed @returns its path */
export function writeScript({ name, language }: SdkRuntime, folder: string, script: string, text: string): string {
  // Node 20 can't run TypeScript.
  const isPlain = name === "Node";
  const path = join(folder, `${script}.${language === "python" ? "py" : isPlain ? "mjs" : "mts"}`);
  writeFileSync(path, isPlain ? new Bun.Transpiler({ loader: "ts" }).transformSync(text) : text);
  return path;
}

import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { makeCacheEntry } from "../../src/files/index.ts";
import { programVersion } from "../../src/program/index.ts";
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
 * Installs the packed TypeScript client into an empty folder, without a network. Scripts must lie below the folder.
 * @returns the runtimes; Node is missing where it is not installed
 */
export async function installTypescriptSdk(folder: string): Promise<SdkRuntime[]> {
  const npm = Bun.which("npm") !== null && Bun.which("node") !== null;
  const installed = await installedOnce("typescript", npm ? "npm" : "bun", async (made) => {
    const tarball = await packTypescript(made);
    writeFileSync(join(made, "package.json"), '{ "private": true, "type": "module" }\n');
    const install = npm
      ? ["npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"]
      : [process.execPath, "add", "--no-save"];
    await runCommand([...install, `./${tarball}`], { cwd: made });
  });
  cpSync(installed, folder, { recursive: true });
  const runtimes: SdkRuntime[] = [{ name: "Bun", program: process.execPath, language: "ts", environment: {} }];
  if (npm) runtimes.push({ name: "Node", program: "node", language: "ts", environment: {} });
  else console.warn("SKIPPED: tests of the TypeScript client in Node; there is no node or npm");
  return runtimes;
}

/** Installs the wheel of the Python client into an empty folder, without a network. */
export async function installPythonSdk(folder: string): Promise<SdkRuntime[]> {
  if (Bun.which("python3") === null) {
    console.warn("SKIPPED: tests of the Python client; there is no python3");
    return [];
  }
  let wheel: string | null = null;
  const installed = await installedOnce("python", "pip", async (made) => {
    wheel = await packPython(made, defaultCacheRoot());
    const pip = ["python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"];
    await runCommand([...pip, "--no-index", "--no-deps", "--target", join(made, "packages"), join(made, wheel)]);
  }).catch((error: unknown) => {
    if (!(error instanceof CommandError) || wheel !== null) throw error;
    console.warn(`SKIPPED: tests of the Python client; its build backend cannot be installed: ${error.message}`);
    return null;
  });
  if (installed === null) return [];
  cpSync(installed, folder, { recursive: true });
  const environment = { PYTHONPATH: join(folder, "packages"), PYTHONDONTWRITEBYTECODE: "1" };
  return [{ name: "Python", program: "python3", language: "python", environment }];
}

/**
 * Returns a folder with an installed client package. It is made for the first test that needs it, because packing runs a
 * compiler, and again when the package's sources change.
 */
function installedOnce(
  language: "typescript" | "python",
  installer: string,
  install: (made: string) => Promise<void>,
): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(`${programVersion} ${installer} ${Bun.version}`);
  const files = [
    "LICENSE",
    "package.json",
    "tools/development/sdk/packages.ts",
    "tools/development/sdk/build-wheel.py",
  ];
  for (const path of [...files, ...sourcesOf(language)])
    hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  const entry = join(language, hash.digest("hex"));
  const made = join(root, "build/test-sdk");
  return existsSync(join(made, entry)) ? Promise.resolve(join(made, entry)) : makeCacheEntry(made, entry, install);
}

function sourcesOf(language: string): string[] {
  const folder = join("sdk", language);
  const paths = [...new Bun.Glob("**/*").scanSync({ cwd: join(root, folder) })].sort();
  return paths.filter((path) => !path.includes("__pycache__")).map((path) => join(folder, path));
}

/** Writes a script for a runtime. @param folder where the package is installed @returns its path */
export function writeScript({ name, language }: SdkRuntime, folder: string, script: string, text: string): string {
  // Node 20 can't run TypeScript.
  const isPlain = name === "Node";
  const path = join(folder, `${script}.${language === "python" ? "py" : isPlain ? "mjs" : "mts"}`);
  writeFileSync(path, isPlain ? new Bun.Transpiler({ loader: "ts" }).transformSync(text) : text);
  return path;
}

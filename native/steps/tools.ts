import type { NativeTarget } from "./target.ts";

/** The installed tools that a build uses. */
export interface NativeTools {
  cmake: string;
  compiler: string;
  /** Optional. Builds slightly faster than make. */
  ninja: string | undefined;
  /** First line of the output of `compiler --version`; part of the cache key. */
  compilerVersion: string;
}

/**
 * Finds the tools that compile for a target, on PATH by default.
 * @throws {Error} with the missing tools and the packages to install
 */
export async function findTools(
  { architecture, cross }: NativeTarget,
  which: (program: string) => string | null = Bun.which,
): Promise<NativeTools> {
  const compilerName = cross?.compiler ?? "c++";
  const cmake = which("cmake");
  const compiler = which(compilerName);
  const ninja = which("ninja") ?? undefined;
  const builder = ninja ?? which("make");
  if (cmake === null || compiler === null || builder === null) {
    const missing = Object.entries({ cmake, [compilerName]: compiler, "ninja or make": builder })
      .filter(([, path]) => path === null)
      .map(([name]) => name);
    throw new Error(
      `cannot build the whisper addon for ${architecture} without ${missing.join(", ")}: install a C++17 compiler, ` +
        `CMake 3.18 and Ninja (Debian: apt install ${cross?.debianPackage ?? "g++"} cmake ninja-build)`,
    );
  }
  const version = await runTool([compiler, "--version"], () => {});
  return { cmake, compiler, ninja, compilerVersion: version.split("\n")[0] ?? "" };
}

/**
 * Runs a tool in a directory and returns its standard output. Calls `onLine` with each line as soon as it is printed.
 * @throws {Error} with the tool's error lines and last lines when it exits with another code than 0
 */
export async function runTool(
  command: string[],
  onLine: (line: string) => void,
  directory = process.cwd(),
): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const errors = new Response(child.stderr).text();
  let output = "";
  let pending = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stdout) {
    const text = decoder.decode(bytes, { stream: true });
    output += text;
    const lines = (pending + text).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      onLine(line);
    }
  }
  const exitCode = await child.exited;
  if (exitCode !== 0) {
    // The cause is rarely in the last lines, because a failing build completes the steps that are already running.
    const lines = `${output}\n${await errors}`.trim().split("\n");
    const reasons = lines.filter((line) => /\berror\b/i.test(line)).slice(0, 10);
    throw new Error([`${command[0]} exited with code ${exitCode}:`, ...reasons, ...lines.slice(-20)].join("\n"));
  }
  return output;
}

/** Returns the message of an error, for the message of another. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the SHA-256 of a file in hexadecimal digits. */
export async function digestOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const bytes of Bun.file(path).stream()) hash.update(bytes);
  return hash.digest("hex");
}

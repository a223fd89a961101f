import type { NativeTarget } from "./target.ts";

/** What a build needs on the machine. */
export interface NativeTools {
  cmake: string;
  compiler: string;
  /** Builds a little faster than make; optional. */
  ninja: string | undefined;
  /** First line of what the compiler says about itself, part of the cache key. */
  compilerVersion: string;
}

/**
 * Finds the tools that compile for a kind of machine, on PATH by default; throws an Error that names what is missing and the
 * packages that bring it.
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
 * Runs a tool in a directory to its end and returns its standard output; `onLine` sees each line of it as it comes.
 *
 * Throws an Error with the last lines the tool said where it fails.
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
    // the reason is seldom last: a build that fails goes on with what was started
    const said = `${output}\n${await errors}`.trim().split("\n");
    const reasons = said.filter((line) => /\berror\b/i.test(line)).slice(0, 10);
    throw new Error([`${command[0]} ended with code ${exitCode}:`, ...reasons, ...said.slice(-20)].join("\n"));
  }
  return output;
}

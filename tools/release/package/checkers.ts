import { join } from "node:path";

/** A program of a distribution that finds mistakes in packages of its format. */
interface Checker {
  readonly program: string;
  /** Options with which every finding that is not an accepted one is an error. */
  readonly options: readonly string[];
}

const CHECKERS = {
  // Packages are often built by root in a container.
  deb: { program: "lintian", options: ["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"] },
  rpm: { program: "rpmlint", options: ["--strict", "--config", join(import.meta.dir, "rpmlint.toml")] },
} as const satisfies Record<string, Checker>;

/**
 * Checks a package with the program for its format if it is installed, and otherwise logs that the check was skipped.
 * The accepted findings are in debian-control.ts and rpmlint.toml.
 * @throws {Error} with the errors and warnings that were found
 */
export async function checkPackage(
  format: keyof typeof CHECKERS,
  path: string,
  log: (line: string) => void,
): Promise<void> {
  const { program, options } = CHECKERS[format];
  if (Bun.which(program) === null) {
    log(`SKIPPED: the checks of ${program}, which is not installed (on Debian: apt install ${program})`);
    return;
  }
  const child = Bun.spawn([program, ...options, path], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [found, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`${program} found errors or warnings:\n${found}${errors}`.trim());
  log(`${program} found no error and no warning`);
}

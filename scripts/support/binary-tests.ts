import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { bareRoots } from "./bare-roots.ts";
import { root } from "./checkout.ts";
import { offline } from "./offline/namespace.ts";

export interface TestRun {
  readonly command: readonly string[];
  /** Beside the environment that there is. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes away what was made for it. */
  readonly clean?: () => Promise<void>;
}

/** The tests that start the program as its users do. */
const endToEnd = ["test/e2e", "test/binary"];

/** These start a browser, which looks for a way out of the machine before it shows any page. */
const inBrowser = "test/console-page";

/**
 * Builds the program in one file, and says how to run tests against it in place of the source: where there is no network,
 * if this user may make such a place and none of them is named that needs a browser.
 * @param names tests to run; the end-to-end ones when there are none
 */
export async function binaryTests(
  names: readonly string[],
  bunTest: (names: readonly string[]) => readonly string[],
): Promise<TestRun> {
  const log = (line: string) => console.log(line);
  const program = await build();
  const roots = await bareRoots(defaultCacheRoot(), log);
  const runtimeDirectory = await mkdtemp(join(tmpdir(), "transcribe-runtime-"));
  const command = bunTest(names.length > 0 ? names : endToEnd);
  const hasBrowser = names.some((name) => name.startsWith(inBrowser));
  const isolated = hasBrowser ? null : offline(command);
  if (isolated === null && !hasBrowser)
    log("SKIPPED: the proof that nothing tries to reach the network; namespaces need privileges");
  return {
    command: isolated ?? command,
    env: { TEST_PROGRAM: program, TEST_RUNTIME_DIR: runtimeDirectory, TEST_BARE_ROOTS: roots.join(":") },
    clean: () => rm(runtimeDirectory, { recursive: true, force: true }),
  };
}

async function build(): Promise<string> {
  const script = join(root, "scripts/support/build/index.ts");
  const child = Bun.spawn([process.execPath, "--no-env-file", script], {
    cwd: root,
    stdin: "ignore",
    stderr: "inherit",
  });
  const said = await new Response(child.stdout).text();
  process.stdout.write(said);
  const file = /^build: (dist\/\S+), \d+ MB/m.exec(said)?.[1];
  if ((await child.exited) !== 0 || file === undefined) throw new Error("the program could not be built");
  return join(root, file);
}

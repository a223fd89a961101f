import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram } from "../../harness/compiled-program.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { Podman, podmanCompose } from "../../harness/podman.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { messageOf } from "../../src/text/index.ts";
import { debianSystems, systemsObstacle } from "../shared/debian-systems.ts";
import { offline } from "../shared/offline.ts";

export interface TestRun {
  readonly command: readonly string[];
  /** Variables in addition to the inherited environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Removes the files that the run needed. */
  readonly clean?: () => Promise<void>;
}

/** Tests that start the program as its users do. */
const END_TO_END_TESTS = ["test/e2e", "test/binary"];
/** Tests that start a browser, which tries to reach the network before it shows a page. */
const BROWSER_TESTS = "test/console/page";

/**
 * Builds the compiled program and returns the run that tests it instead of the source. The tests run without a
 * network when this user may create namespaces and no selected test needs a browser.
 * @param names tests to run; empty for the end-to-end tests
 */
export async function binaryTests(
  names: readonly string[],
  bunTest: (names: readonly string[]) => readonly string[],
): Promise<TestRun> {
  const log = (line: string) => console.log(line);
  const program = await buildProgram((output) => process.stdout.write(output));
  const logSkipped = (reason: string) => log(`SKIPPED: tests on minimal Debian systems; ${reason}`);
  const obstacle = systemsObstacle();
  if (obstacle !== null) logSkipped(obstacle);
  const roots = obstacle === null ? await debianSystems(defaultCacheRoot(), log, {}, logSkipped) : [];
  // Fetched into the cache now, because the tests may have no network.
  await natsServerProgram("a fleet of compiled programs");
  if (Podman.obstacle() === null) await podmanCompose().catch((error: unknown) => log(messageOf(error)));
  const runtimeDirectory = await mkdtemp(join(tmpdir(), "transcribe-runtime-"));
  const command = bunTest(names.length > 0 ? names : END_TO_END_TESTS);
  const hasBrowser = names.some((name) => name.startsWith(BROWSER_TESTS));
  const isolated = hasBrowser ? null : offline(command);
  if (isolated === null && !hasBrowser)
    log("SKIPPED: the proof that nothing tries to reach the network; namespaces need privileges");
  return {
    command: isolated ?? command,
    env: { TEST_PROGRAM: program, TEST_RUNTIME_DIR: runtimeDirectory, TEST_BARE_ROOTS: roots.join(":") },
    clean: () => rm(runtimeDirectory, { recursive: true, force: true }),
  };
}

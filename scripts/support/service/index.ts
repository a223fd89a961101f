// The part of scripts/test-service that needs Bun: makes the systems, then runs the tests on them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { makeCacheEntry } from "../../../src/models/cache-entry.ts";
import { root } from "../checkout.ts";
import { runCommand } from "../run-command.ts";

const suites = ["bookworm", "trixie"];
const timeoutMs = 10 * 60_000;

if (process.getuid?.() !== 0 || Bun.which("debootstrap") === null) {
  console.error("test-service: it takes root and debootstrap (apt install debootstrap)");
  process.exit(1);
}
const cacheRoot = defaultCacheRoot();
const systems: string[] = [];
for (const suite of suites) {
  const entry = join("roots", `${suite}-systemd`);
  if (!existsSync(join(cacheRoot, entry))) {
    console.log(`test-service: making ${suite}`);
    await makeCacheEntry(cacheRoot, entry, async (directory) => {
      const packages = "--include=systemd,systemd-sysv,iproute2";
      await runCommand(["debootstrap", "--variant=minbase", packages, suite, directory], { timeoutMs });
    });
  }
  systems.push(join(cacheRoot, entry));
}
const tests = Bun.spawn([process.execPath, "test", "test/install/booted"], {
  cwd: root,
  env: {
    ...process.env,
    TEST_SYSTEMS: systems.join(":"),
    TEST_INSTALLER: join(root, `dist/transcribe-${process.platform}-${process.arch}`),
  },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);

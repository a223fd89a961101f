// The part of scripts/test-service that needs Bun: installs the systems, then runs the tests on them.
import { join } from "node:path";
import { defaultCacheRoot } from "../../../native/build.ts";
import { root } from "../../shared/checkout.ts";
import { debianSystems, systemsObstacle } from "../../shared/debian-systems.ts";

const obstacle = systemsObstacle();
if (obstacle !== null) {
  console.error(`test-service: ${obstacle}`);
  process.exit(1);
}
const log = (line: string) => console.log(`test-service: ${line}`);
const withSystemd = {
  nameSuffix: "-service",
  packages: ["systemd", "systemd-sysv", "iproute2", "python3"],
  optional: ["rpm", "dnf"],
};
const systems = await debianSystems(defaultCacheRoot(), log, withSystemd, (reason) =>
  log(`SKIPPED: the service on ${reason}`),
);
if (systems.length === 0) process.exit(1);
const program = join(root, `dist/transcribe-${process.platform}-${process.arch}`);
const tests = Bun.spawn([process.execPath, "test", "test/install/booted"], {
  cwd: root,
  env: {
    ...process.env,
    TEST_SYSTEMS: systems.join(":"),
    TEST_INSTALLER: program,
    TEST_DELIVERY: join(root, "dist"),
    TEST_REPOSITORY: `${program}.apt.tar`,
    TEST_RPM: `${program}.rpm`,
  },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);

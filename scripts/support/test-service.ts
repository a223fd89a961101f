// The part of scripts/test-service that needs Bun: installs the systems, then runs the tests on them.
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { root } from "./checkout.ts";
import { debianSystems, debootstrapObstacle } from "./debian-systems.ts";

const obstacle = debootstrapObstacle();
if (obstacle !== null) {
  console.error(`test-service: ${obstacle}`);
  process.exit(1);
}
const log = (line: string) => console.log(`test-service: ${line}`);
const withSystemd = { nameSuffix: "-systemd", packages: ["systemd", "systemd-sysv", "iproute2"] };
const systems = await debianSystems(defaultCacheRoot(), log, withSystemd);
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

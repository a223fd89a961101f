import { expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../../harness/server.ts";
import { isUnchecked } from "../../src/standby/index.ts";
import { clock, promoteByFolder } from "./leases.ts";
import { StandbyDirectory } from "./standby-directory.ts";

setDefaultTimeout(60_000);

test.concurrent.each<[what: string, isDamaged: boolean, event: string, warning: string | null]>([
  ["and logs that it has no damage", false, "standby.database_checked", null],
  ["and warns of its damage", true, "standby.database_damaged", "the database is damaged; see transcribe doctor"],
])(
  "a server checks the database that its promotion had no time to check, %s",
  async (_what, isDamaged, event, warning) => {
    await using server = new TestServer();
    using standby = new StandbyDirectory({ root: server.dataDirectory });
    const { directory, fence } = standby;
    if (isDamaged) standby.damage("replacements");
    let passed = 0;
    const slow = { ...clock, monotonic: () => clock.monotonic() + passed };
    const onStep = () => {
      passed = 60_000;
    };
    expect(await promoteByFolder(directory.root, fence, onStep, slow)).toMatchObject({ epoch: 2, isChecked: false });
    expect(isUnchecked(directory)).toBe(true);
    await server.start(false);
    await server.until(() => server.log.some((line) => line.event === event));
    expect(isUnchecked(directory)).toBe(isDamaged);
    await server.untilReady();
    const { warning: found = null } = (await (await fetch(`${server.origin}/readyz`)).json()) as { warning?: string };
    expect(found).toBe(warning);
  },
);

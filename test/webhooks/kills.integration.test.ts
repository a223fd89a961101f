import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { killSender } from "../../harness/webhook-kills.ts";
import { scriptBundle } from "../../tools/development/program-bundle.ts";

setDefaultTimeout(240_000);

/** scripts/endurance does the same with more events and kills. */
test("no event is lost or gets another id while the sender is killed six times and its receiver is down for the first part", async () => {
  using parent = temporaryDirectory();
  const script = await scriptBundle(
    join(import.meta.dir, "../../harness/webhook-kills.ts"),
    join(parent.path, "script"),
  );
  const directory = join(parent.path, "data");
  mkdirSync(directory);
  const plan = { recordings: 210, kills: 6, outageMilliseconds: 1_800_000, speed: 1_000 };
  const { kills, events, refused, lost, unstable, disordered } = await killSender({ script, directory, ...plan });
  expect({ kills, lost, unstable, disordered }).toEqual({ kills: 6, lost: 0, unstable: 0, disordered: 0 });
  expect(events).toBeGreaterThan(240);
  expect(refused).toBeGreaterThan(0);
});

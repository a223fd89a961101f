import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { killSender } from "../../harness/webhook-kills.ts";
import { scriptBundle } from "../../tools/development/program-bundle.ts";

setDefaultTimeout(240_000);

test("no event is lost or gets another id while the sender is killed ten times and its receiver is down for the first part", async () => {
  using parent = temporaryDirectory();
  const script = await scriptBundle(
    join(import.meta.dir, "../../harness/webhook-kills.ts"),
    join(parent.path, "script"),
  );
  const directory = join(parent.path, "data");
  mkdirSync(directory);
  const plan = { recordings: 420, kills: 10, outageMilliseconds: 3_600_000, speed: 1_000 };
  const { kills, events, refused, lost, unstable, disordered } = await killSender({ script, directory, ...plan });
  expect({ kills, lost, unstable, disordered }).toEqual({ kills: 10, lost: 0, unstable: 0, disordered: 0 });
  expect(events).toBeGreaterThan(480);
  expect(refused).toBeGreaterThan(0);
});

import { expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { answerConfirmationRequests, requestConfirmation } from "../../src/standby/index.ts";
import { DataPaths } from "../../src/storage/index.ts";

test("a command learns whether the standby has its changes, and waits for no server that does not wait", async () => {
  using temporary = temporaryDirectory();
  const paths = new DataPaths(temporary.path);
  mkdirSync(paths.state);
  expect(await requestConfirmation(paths)).toBe(true);
  const gate = new StandbyGate();
  let isRequired = true;
  let asked = 0;
  gate.onConfirm = () => {
    asked += 1;
  };
  const stop = answerConfirmationRequests(paths, gate, () => isRequired);
  const folder = join(paths.state, "confirmations");
  const until = async (isThere: boolean) => {
    while (readdirSync(paths.state).includes("confirmations") !== isThere) await Bun.sleep(5);
  };
  await until(true);
  expect([await requestConfirmation(paths), asked]).toEqual([true, 1]);
  gate.isThere = false;
  expect([await requestConfirmation(paths), readdirSync(folder)]).toEqual([false, []]);
  // The setting is changed while a command waits.
  isRequired = false;
  await until(false);
  expect(await requestConfirmation(paths)).toBe(true);
  isRequired = true;
  await until(true);
  stop();
  expect(readdirSync(paths.state)).toEqual([]);
});

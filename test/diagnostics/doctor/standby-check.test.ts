import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { FolderRegister } from "../../../src/standby/folder-register.ts";
import { storeServing } from "../../../src/standby/index.ts";
import { DataPaths, writeStandbyMarker } from "../../../src/storage/index.ts";
import { Shelf } from "../../support/shelf.ts";
import { contextOf, runCheck } from "./support.ts";

const record = { epoch: 3, owner: "a".repeat(32), host: "first", milliseconds: 12_000, at: 0 } as const;
const check = (context: ReturnType<typeof contextOf>) => runCheck("standby.fence", context);

test("the check of the fence is skipped without a standby, and warns of a standby without a fence", async () => {
  expect((await check(contextOf({}))).status).toBe("skipped");
  using directory = temporaryDirectory();
  writeStandbyMarker({ root: directory.path }, { from: "tls://a:1", since: 0, appliedAt: 0, complete: true });
  const context = contextOf({}, { paths: new DataPaths(directory.path), data: "present" });
  expect(await check(context)).toMatchObject({
    status: "warning",
    summary: "nothing keeps the other server from serving after a takeover",
  });
});

test("the check of the fence names the holder of the lease, and finds a folder that is missing or another one", async () => {
  using folder = temporaryDirectory();
  const register = new FolderRegister(folder.path, null);
  await register.replace((await register.read()).version, { ...record, state: "held" });
  const { store } = new Shelf();
  storeServing(store, { fence: await register.identify() });
  const flags = { "standby.fence": folder.path };
  expect(await check(contextOf({}, { database: store, flags }))).toMatchObject({
    status: "ok",
    summary: "first holds the lease, epoch 3",
  });
  storeServing(store, { fence: "another" });
  expect(await check(contextOf({}, { database: store, flags }))).toMatchObject({
    status: "problem",
    summary: expect.stringContaining("is the shared storage mounted?"),
  });
  expect(await check(contextOf({}, { flags: { "standby.fence": join(folder.path, "none") } }))).toMatchObject({
    status: "problem",
    summary: expect.stringContaining("can't be used"),
  });
});

import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canMount, SmallDisk } from "../../harness/small-disk.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { findRunningServer, ServerStateFile } from "../../src/api-contract/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

setDefaultTimeout(60_000);

test.if(canMount)(
  "a server state file that a full disk refused is written by the first retry after space is free",
  () => {
    using directory = temporaryDirectory();
    const dataDirectory = new DataDirectory(directory.path);
    const log = createLogger("silent");
    let errors = 0;
    log.error = () => {
      errors += 1;
    };
    using disk = new SmallDisk(dataDirectory.state, "size=64k,mode=700");
    const stateFile = new ServerStateFile(dataDirectory, log);
    const server = { pid: 1, version: "1", origin: "http://127.0.0.1:1", modelSetting: "", certificate: null };
    const stored = () => JSON.parse(readFileSync(join(dataDirectory.state, "server.json"), "utf8"));

    disk.fill();
    stateFile.write(server);
    stateFile.retry();
    expect(readdirSync(dataDirectory.state)).not.toContain("server.json");
    expect(errors).toBe(1);
    disk.empty();
    stateFile.retry();
    expect(stored()).toEqual(server);

    disk.fill();
    stateFile.write({ ...server, certificate: "new" });
    expect(stored()).toEqual(server);
    disk.empty();
    stateFile.retry();
    expect(stored()).toMatchObject({ certificate: "new" });
    stateFile.retry();
    expect(errors).toBe(2);
  },
);

test("a slow server is found by its state file, and a stopped one is not", async () => {
  using root = temporaryDirectory();
  const directory = new DataDirectory(root.path);
  expect(await findRunningServer(directory)).toBeNull();

  const slow = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async () => {
      await Bun.sleep(2500);
      return new Response("ok");
    },
  });
  const state = { pid: process.pid, version: "0", origin: slow.url.origin, modelSetting: "", certificate: null };
  const stateFile = new ServerStateFile(directory, createLogger("silent"));
  stateFile.write(state);
  expect(await findRunningServer(directory)).toEqual(state);

  await slow.stop(true);
  expect(await findRunningServer(directory)).toBeNull();
  stateFile.remove();
  expect(await findRunningServer(directory)).toBeNull();
});

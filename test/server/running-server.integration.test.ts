import { expect, test } from "bun:test";
import { findRunningServer, removeServerState, writeServerState } from "../../src/server/running-server.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test("a server that a busy machine makes late is found, and one that is gone is not", async () => {
  using root = temporaryDirectory();
  const directory = new DataDirectory(root.path);
  expect(await findRunningServer(directory)).toBeNull();

  const late = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async () => {
      await Bun.sleep(2500);
      return new Response("ok");
    },
  });
  const announced = { pid: process.pid, version: "0", origin: late.url.origin, modelSetting: "", certificate: null };
  writeServerState(directory, announced);
  expect(await findRunningServer(directory)).toEqual(announced);

  await late.stop(true);
  expect(await findRunningServer(directory)).toBeNull();
  removeServerState(directory);
  expect(await findRunningServer(directory)).toBeNull();
});

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ServerStateFile } from "../../src/server/server-state-file.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { canMount, SmallDisk } from "../support/small-disk.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

test.if(canMount)(
  "a server that could not be announced on a full disk is as soon as there is room, and only then",
  () => {
    using directory = temporaryDirectory();
    const dataDirectory = new DataDirectory(directory.path);
    const log = createLogger("silent");
    let errors = 0;
    log.error = () => {
      errors += 1;
    };
    using disk = new SmallDisk(dataDirectory.state, "size=64k,mode=700");
    const announcement = new ServerStateFile(dataDirectory, log);
    const server = { pid: 1, version: "1", origin: "http://127.0.0.1:1", modelSetting: "", certificate: null };
    const said = () => JSON.parse(readFileSync(join(dataDirectory.state, "server.json"), "utf8"));

    disk.fill();
    announcement.write(server);
    announcement.retry();
    expect(readdirSync(dataDirectory.state)).not.toContain("server.json");
    expect(errors).toBe(1);
    disk.empty();
    announcement.retry();
    expect(said()).toEqual(server);

    disk.fill();
    announcement.write({ ...server, certificate: "new" });
    expect(said()).toEqual(server);
    disk.empty();
    announcement.retry();
    expect(said()).toMatchObject({ certificate: "new" });
    announcement.retry();
    expect(errors).toBe(2);
  },
);

import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { available, samplePath } from "../../harness/checkout.ts";
import { runCli } from "../../harness/server.ts";
import { StandbyPair, until } from "../../harness/standby-pair.ts";

const sample = samplePath("jfk.mp3");
const ready = available("a server that has lost its disk", sample);

test.if(ready)(
  "a server that has lost its disk does not serve an empty database, and its standby keeps the copy until somebody discards it",
  async () => {
    await using pair = await StandbyPair.create();
    const fenced = pair.fenceSettings();
    const server = await pair.serve({ ...fenced, TRANSCRIBE_STANDBY_WAIT: "true" });
    const standby = pair.follow();
    await until(standby, ({ event }) => event === "standby.following");
    const { id } = await pair.client("acme").create(sample);
    const copied = () => pair.inCopy((database) => database.query("SELECT id FROM recordings").all());
    await server.end("SIGKILL");
    rmSync(pair.serverDirectory, { recursive: true });

    const serve = ["serve", "--port", "0", "--data-dir", pair.serverDirectory];
    const refused = await runCli(serve, { ...pair.settings("127.0.0.1"), ...fenced });
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("let the standby take over")]);
    // Without a fence, nothing tells the server that there was another database.
    const empty = await pair.serve();
    const isOther = ({ event, trouble }: { event: unknown; trouble?: unknown }) =>
      event === "standby.connection_lost" && String(trouble).includes("another database");
    await until(standby, isOther);
    expect(copied()).toEqual([{ id }]);
    // A standby that starts again keeps it as well.
    await standby.end("SIGTERM");
    const again = pair.follow();
    await until(again, isOther);
    expect(copied()).toEqual([{ id }]);
    await again.end("SIGTERM");

    const replaced = pair.follow(undefined, undefined, "--replace");
    await until(replaced, ({ event }) => event === "standby.following");
    expect(copied()).toEqual([]);
    expect(await empty.end("SIGTERM")).toBe(0);
  },
  60_000,
);

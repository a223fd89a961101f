import { expect, test } from "bun:test";
import { join } from "node:path";
import { available } from "../../harness/checkout.ts";
import { runCli } from "../../harness/server.ts";
import { StandbyPair, until } from "../../harness/standby-pair.ts";

const sample = join(import.meta.dir, "../../build/samples/jfk.mp3");
const ready = available("the takeover by a standby", sample);

test.if(ready)(
  "a standby takes over from a server that was killed, with all that was answered, and the server becomes its standby",
  async () => {
    await using pair = await StandbyPair.create();
    const settings = pair.fenceSettings();
    const first = await pair.serve({ ...settings, TRANSCRIBE_STANDBY_WAIT: "true" });
    const standby = pair.follow();
    await until(standby, ({ event }) => event === "standby.following");
    const client = pair.client("acme");
    const ids = [(await client.create(sample)).id, (await client.create(sample)).id];
    await first.end("SIGKILL");
    const promoted = await runCli(["promote", "--data-dir", pair.standbyDirectory], settings);
    expect([promoted.exitCode, promoted.stderr]).toEqual([0, ""]);
    pair.exchange();
    const second = await pair.serve(settings);
    const listed = (await (await client.fetch("/transcriptions")).json()) as { data: { id: string }[] };
    expect(listed.data.map(({ id }) => id).toSorted()).toEqual(ids);
    // The former server's own data is replaced only on demand.
    const refused = pair.follow();
    expect(await refused.child.exited).toBe(1);
    const former = pair.follow(undefined, undefined, "--replace");
    await until(former, ({ event }) => event === "standby.following");
    ids.push((await client.create(sample)).id);
    await until(former, () =>
      pair.inCopy(
        (database) =>
          database.query<{ number: number }, []>("SELECT count(*) AS number FROM recordings").get()?.number ===
          ids.length,
      ),
    );
    expect(await second.end("SIGTERM")).toBe(0);
  },
  60_000,
);

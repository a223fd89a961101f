import { expect, test } from "bun:test";
import { available, samplePath } from "../../harness/checkout.ts";
import { runCli } from "../../harness/server.ts";
import { StandbyPair, until } from "../../harness/standby-pair.ts";

const sample = samplePath("jfk.mp3");
const ready = available("a server that follows until a takeover", sample);

test.if(ready)(
  "a server with standby.follow follows, takes over by one command, and the former server rejoins if it may",
  async () => {
    await using pair = await StandbyPair.create();
    const settings = pair.fenceSettings();
    const first = await pair.serve({ ...settings, TRANSCRIBE_STANDBY_WAIT: "true" });
    const second = pair.serveOrFollow(settings);
    await until(second, ({ event }) => event === "standby.following");
    const other = `http://127.0.0.1:${pair.otherPort}`;
    const statusOf = async (path: string) => (await fetch(`${other}${path}`)).status;
    expect(await Promise.all(["/healthz", "/readyz", "/metrics", "/transcriptions"].map(statusOf))).toEqual([
      ...[200, 503, 200, 503],
    ]);
    const shown = await runCli(["service", "status", "--json", "--data-dir", pair.standbyDirectory]);
    expect([shown.exitCode, JSON.parse(shown.stdout)]).toMatchObject([
      0,
      { ready: true, follows: `tls://127.0.0.1:${pair.standbyPort}`, pid: second.child.pid },
    ]);
    // A service manager reloads servers by this signal.
    second.child.kill("SIGHUP");
    const { id } = await pair.client("acme").create(sample);
    await first.end("SIGKILL");

    const promoted = await runCli(["promote", "--data-dir", pair.standbyDirectory], settings);
    expect([promoted.exitCode, promoted.stderr]).toEqual([0, ""]);
    expect(await second.child.exited).toBe(0);
    // It listens under the former server's name.
    const listening = { ...pair.settings("127.0.0.1"), TRANSCRIBE_STANDBY_LISTEN: `127.0.0.1:${pair.standbyPort}` };
    const third = pair.serveOrFollow({ ...settings, ...listening });
    await until(third, ({ event }) => event === "server.listening");
    expect(await statusOf("/healthz")).toBe(200);

    // The former server learns of the takeover by the fence.
    pair.exchange();
    const refused = pair.serveOrFollow(settings, 0);
    expect(await refused.child.exited).toBe(6);
    const former = pair.serveOrFollow({ ...settings, TRANSCRIBE_STANDBY_REJOIN: "true" }, 0);
    await until(former, ({ event }) => event === "standby.following");
    expect(pair.inCopy((database) => database.query("SELECT id FROM recordings").all())).toEqual([{ id }]);
  },
  60_000,
);

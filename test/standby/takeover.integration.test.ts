import { expect, setDefaultTimeout, test } from "bun:test";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { openDatabase } from "../../src/database/index.ts";
import { exitCodeOf, FencedPair } from "./fenced-pair.ts";

setDefaultTimeout(60_000);

test("a server that was stopped for longer than its lease answers and writes nothing after a takeover", async () => {
  await using pair = FencedPair.byFolder();
  const { first, second } = pair;
  await first.start(false);
  const client = first.client("acme");
  const before = await client.create(samplePath("sample.wav"));
  await first.stop();
  pair.copy();
  await first.restartOnSamePort();

  // While the first one serves, nothing takes its place without force.
  const early = await second.cli("promote", "--json");
  expect([early.exitCode, early.stderr]).toEqual([1, expect.stringContaining("still serves: it renews its lease")]);
  expect((await client.get(before.id)).id).toBe(before.id);

  process.kill(first.pid, "SIGSTOP");
  const promoted = await second.cli("promote", "--json");
  expect(promoted.stderr).toBe("");
  expect(JSON.parse(promoted.stdout)).toMatchObject({ promoted: true, epoch: 2, checked: true });
  await second.start(false);
  const next = new TestClient(second.baseUrl, client.key);
  expect((await next.get(before.id)).id).toBe(before.id);

  // Requests that wait in its sockets when it is resumed.
  const statuses = Promise.all(
    [() => client.send(samplePath("sample.wav")), () => client.fetch(`/transcriptions/${before.id}`)].map((ask) =>
      ask().then(
        ({ status }) => status,
        () => "no answer",
      ),
    ),
  );
  await Bun.sleep(100);
  process.kill(first.pid, "SIGCONT");
  for (const status of await statuses) expect(["no answer", 503]).toContain(status);
  expect(await exitCodeOf(first)).toBe(6);
  expect(first.log.find(({ event }) => event === "standby.replaced")).toMatchObject({ epoch: 2 });

  // It knows that for good, even without its fence.
  const again = await first.cli("serve", "--port", "0");
  expect([again.exitCode, again.stderr]).toEqual([6, expect.stringContaining("was replaced:")]);
  const refused = await first.cli("accounts", "create", "late");
  expect([refused.exitCode, refused.stderr]).toEqual([6, expect.stringContaining("transcribe standby")]);
  const store = openDatabase(`${first.dataDirectory}/transcribe.db`);
  expect(store.$client.query("SELECT count(*) AS n FROM recordings").get()).toEqual({ n: 1 });
  store.$client.close();
  expect((await next.create(samplePath("sample.wav"))).status).toBe("queued");
});

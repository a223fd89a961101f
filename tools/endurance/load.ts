import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mediaToolPath, samplePath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeLongRecording } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  becomesTrue,
  countConnected,
  createAtOnce,
  cutUpload,
  filesIn,
  poll,
  quantile,
  type Slowness,
  slowClient,
  tally,
} from "./load-clients.ts";
import type { PartOptions, Row } from "./row.ts";

const pollingClients = 500;
const everySeconds = 5;
const openRecordingsPerAccount = 5;
const cuts = 100;

/**
 * load: 500 clients poll a busy server. Then 100 creates arrive at once, 200 clients send or receive one byte per
 * second, and 100 uploads are cut off.
 */
export async function load(options: PartOptions): Promise<Row[]> {
  await using server = new TestServer();
  await server.start();
  const client = server.client("load");
  const { ended } = await client.transcribe(samplePath("jfk.mp3"), { language: "en" });
  const paths = [`/transcriptions/${ended.id}`, "/transcriptions", `/transcriptions/${ended.id}/segments`];
  return [
    ...(await pollDuringProcessing(client, paths, options)),
    ...(await manyAtOnce(server, options)),
    ...(await slowClients(server, client, paths, options)),
    ...(await cutOff(server, options)),
    ...faultRows(server),
  ];
}

async function pollDuringProcessing(
  client: TestClient,
  paths: readonly string[],
  { reportProgress }: PartOptions,
): Promise<Row[]> {
  using directory = temporaryDirectory();
  const long = await makeLongerRecording(directory.path);
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await client.create(long)).id));
  reportProgress(`${pollingClients} clients poll while five recordings are processed`);
  const isOver = async () => {
    const all = await Promise.all(ids.map((id) => client.get(id)));
    return all.every(({ status }) => status === "completed" || status === "failed");
  };
  const { milliseconds, failures } = await poll(client, { clients: pollingClients, everySeconds, paths, isOver });
  const ends = await Promise.all(ids.map(async (id) => (await client.get(id)).status));
  const p99 = quantile(milliseconds, 0.99);
  const over = `${milliseconds.length} GETs of ${pollingClients} clients; median ${quantile(milliseconds, 0.5).toFixed(1)} ms, longest ${quantile(milliseconds, 1).toFixed(0)} ms`;
  return [
    { measured: "p99 of GET, ms", value: p99.toFixed(1), over, target: "under 50", ok: p99 < 50 },
    {
      measured: "GETs that failed",
      value: failures.length === 0 ? "0" : tally(failures),
      over,
      target: "0",
      ok: failures.length === 0,
    },
    {
      measured: "results of the recordings",
      value: tally(ends),
      over: "five recordings of five minutes",
      target: "completed",
      ok: ends.every((status) => status === "completed"),
    },
  ];
}

async function manyAtOnce(server: TestServer, { reportProgress }: PartOptions): Promise<Row[]> {
  reportProgress("100 creates at once");
  const names = Array.from({ length: 10 }, (_, index) => `at-once-${index}`);
  const clients = await Promise.all(names.map((name) => server.client(name)));
  const { statuses, stray } = await createAtOnce(server, clients, 10, samplePath("jfk.mp3"));
  const isRight = statuses.every(
    (of) => tally(of) === `${openRecordingsPerAccount} × 201, ${10 - openRecordingsPerAccount} × 409`,
  );
  return [
    {
      measured: "100 creates at once",
      value: tally(statuses.flat()),
      over: "10 accounts with 5 open recordings",
      target: "50 × 201, 50 × 409",
      ok: isRight,
    },
    {
      measured: "stray files after them",
      value: String(stray),
      over: "incoming, uploads",
      target: "0",
      ok: stray === 0,
    },
  ];
}

async function slowClients(
  server: TestServer,
  client: TestClient,
  paths: readonly string[],
  { reportProgress }: PartOptions,
): Promise<Row[]> {
  reportProgress("200 clients send or receive one byte per second");
  const senders = await Promise.all(Array.from({ length: 14 }, (_, index) => server.client(`slow-${index}`)));
  const kinds: readonly Slowness[] = ["head", "body", "unauthenticated body", "answer"];
  const slow = Array.from({ length: 200 }, (_, index) => {
    const sender = senders[Math.floor(index / 4) % senders.length] ?? client;
    return slowClient(sender, kinds[index % kinds.length] ?? "head");
  });
  const since = performance.now();
  await Bun.sleep(3000);
  const { milliseconds, failures } = await poll(client, {
    ...{ clients: 20, everySeconds: 1, paths },
    isOver: () => performance.now() - since > 10_000,
  });
  const { status } = await client.send(samplePath("jfk.mp3"));
  const connected = countConnected(slow, client);
  await becomesTrue(() => countConnected(slow, client) === 0, 240);
  const seconds = (performance.now() - since) / 1000;
  const left = countConnected(slow, client);
  for (const one of slow) one[Symbol.dispose]();
  const p99 = quantile(milliseconds, 0.99);
  const over = "200 clients, one byte per second";
  return [
    {
      measured: "p99 of GETs by other clients, ms",
      value: p99.toFixed(1),
      over: `${milliseconds.length} GETs, ${failures.length} failed`,
      target: "under 50",
      ok: p99 < 50 && failures.length === 0,
    },
    { measured: "create by another client", value: String(status), over, target: "201", ok: status === 201 },
    {
      measured: "slow clients still connected",
      value: `${left}, after ${seconds.toFixed(0)} s`,
      over: `${connected} connected after 10 s`,
      target: "0",
      ok: left === 0 && connected > slow.length / 2,
    },
    {
      measured: "files of their uploads",
      value: String(filesIn(server, "incoming")),
      over,
      target: "0",
      ok: filesIn(server, "incoming") === 0,
    },
  ];
}

async function cutOff(server: TestServer, { seed, reportProgress }: PartOptions): Promise<Row[]> {
  reportProgress("cutting off uploads");
  const random = randomNumbers(seed);
  const client = server.client("cut-off");
  const uploads = filesIn(server, "uploads");
  const file = readFileSync(samplePath("jfk.mp3"));
  const idempotencyKey = crypto.randomUUID();
  for (let done = 0; done < cuts; done += openRecordingsPerAccount) {
    const broken = Array.from({ length: openRecordingsPerAccount }, (_, index) =>
      cutUpload(client, file, {
        share: random(),
        ending: random() < 0.5 ? "end" : "reset",
        ...(index === 0 ? { idempotencyKey } : {}),
      }),
    );
    await Promise.all(broken);
  }
  await becomesTrue(() => filesIn(server, "incoming") === 0);
  const stray = filesIn(server, "incoming") + filesIn(server, "uploads") - uploads;
  const listed = JSON.parse(await (await client.fetch("/transcriptions")).text()).data.length;
  const { statuses } = await createAtOnce(server, [client], openRecordingsPerAccount, samplePath("jfk.mp3"));
  const allowance = (await client.fetch("/transcriptions")).headers.get("ratelimit") ?? "";
  const over = `${cuts} uploads cut off`;
  return [
    { measured: "files of cut uploads", value: String(stray), over, target: "0", ok: stray === 0 },
    { measured: "recordings of cut uploads", value: String(listed), over, target: "0", ok: listed === 0 },
    {
      measured: "creates after them",
      value: `${tally(statuses.flat())} ${allowance}`.trim(),
      over: "as many as the account's limit",
      target: "5 × 201",
      ok: tally(statuses.flat()) === "5 × 201",
    },
  ];
}

function faultRows(server: TestServer): Row[] {
  const faults = server.log.filter(
    // The test requests /readyz while the models are loaded.
    ({ event, status, path }) =>
      event === "http.unexpected_error" || (typeof status === "number" && status >= 500 && path !== "/readyz"),
  );
  const value = faults.length === 0 ? "0" : JSON.stringify(faults[0]).slice(0, 300);
  return [{ measured: "5xx responses", value, over: "the whole part", target: "0", ok: faults.length === 0 }];
}

/** Creates a recording of five minutes, so that five of them keep a server busy for a while. */
async function makeLongerRecording(directory: string): Promise<string> {
  const once = await makeLongRecording(directory);
  const path = join(directory, "longer.flac");
  const command = [mediaToolPath, "-v", "error", "-y", "-stream_loop", "3", "-i", once, path];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error("the longer recording cannot be created");
  return path;
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { samplePath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import {
  becomesTrue,
  countConnected,
  createAtOnce,
  cutUpload,
  filesIn,
  poll,
  SLOWNESSES,
  slowClient,
  tally,
} from "../../harness/load-clients.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { makeLongRecording, runFfmpeg } from "../../harness/sample-recordings.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { quantile } from "../shared/figures.ts";
import { none, type PartOptions, type Row, row } from "./rows.ts";

const POLLING_CLIENTS = 500;
const POLL_SECONDS = 5;
const OPEN_RECORDINGS_PER_ACCOUNT = 5;
const CUTS = 100;

/** A server under load, with paths that other clients request meanwhile. */
interface Target {
  readonly server: TestServer;
  readonly client: TestClient;
  readonly paths: readonly string[];
}

/**
 * load: 500 clients poll a busy server. Then 100 creates arrive at once, 200 clients send or receive one byte per
 * second, and 100 uploads are cut off.
 */
export async function load({ seed, reportProgress }: PartOptions): Promise<Row[]> {
  await using server = new TestServer();
  await server.start();
  const client = server.client("load");
  const { ended } = await client.transcribe(samplePath("jfk.mp3"), { language: "en" });
  const paths = [`/transcriptions/${ended.id}`, "/transcriptions", `/transcriptions/${ended.id}/segments`];
  const target = { server, client, paths };
  const rows: Row[] = [];
  reportProgress(`${POLLING_CLIENTS} clients poll while five recordings are processed`);
  rows.push(...(await pollDuringProcessing(target)));
  reportProgress("100 creates at once");
  rows.push(...(await manyAtOnce(server)));
  reportProgress("200 clients send or receive one byte per second");
  rows.push(...(await slowClients(target)));
  reportProgress("cutting off uploads");
  rows.push(...(await cutOff(server, randomNumbers(seed))));
  const faults = server.log.filter(
    // The test requests /readyz while the models are loaded.
    ({ event, status, path }) =>
      event === "http.unexpected_error" || (typeof status === "number" && status >= 500 && path !== "/readyz"),
  );
  const descriptions = faults.slice(0, 1).map((line) => JSON.stringify(line).slice(0, 300));
  return [...rows, none("5xx responses", faults.length, ["the whole part", ...descriptions].join("; "))];
}

async function pollDuringProcessing({ client, paths }: Target): Promise<Row[]> {
  using directory = temporaryDirectory();
  // Five minutes, so that five recordings keep a server busy for a while.
  const long = join(directory.path, "longer.flac");
  await runFfmpeg(["-stream_loop", "3", "-i", await makeLongRecording(directory.path), long]);
  const ids = await Promise.all(Array.from({ length: 5 }, async () => (await client.create(long)).id));
  const statuses = async () => (await Promise.all(ids.map((id) => client.get(id)))).map(({ status }) => status);
  const isOver = async () => (await statuses()).every((status) => status === "completed" || status === "failed");
  const polls = { clients: POLLING_CLIENTS, everySeconds: POLL_SECONDS, paths, isOver };
  const { milliseconds, failures } = await poll(client, polls);
  const ends = await statuses();
  const [median = 0, p99 = 0, longest = 0] = [0.5, 0.99, 1].map((share) => quantile(milliseconds, share));
  const over = `${milliseconds.length} GETs of ${POLLING_CLIENTS} clients; median ${median.toFixed(1)} ms, longest ${longest.toFixed(0)} ms`;
  const isCompleted = ends.every((status) => status === "completed");
  return [
    row("p99 of GET, ms", p99.toFixed(1), over, "under 50", p99 < 50),
    row("GETs that failed", tally(failures) || "0", over, "0", failures.length === 0),
    row("results of the recordings", tally(ends), "five recordings of five minutes", "completed", isCompleted),
  ];
}

async function manyAtOnce(server: TestServer): Promise<Row[]> {
  const clients = Array.from({ length: 10 }, (_, index) => server.client(`at-once-${index}`));
  const { statuses, stray } = await createAtOnce(server, clients, 10, samplePath("jfk.mp3"));
  const each = `${OPEN_RECORDINGS_PER_ACCOUNT} × 201, ${10 - OPEN_RECORDINGS_PER_ACCOUNT} × 409`;
  const isRight = statuses.every((of) => tally(of) === each);
  const over = "10 accounts with 5 open recordings";
  return [
    row("100 creates at once", tally(statuses.flat()), over, "50 × 201, 50 × 409", isRight),
    none("stray files after them", stray, "incoming, uploads"),
  ];
}

async function slowClients({ server, client, paths }: Target): Promise<Row[]> {
  const senders = Array.from({ length: 14 }, (_, index) => server.client(`slow-${index}`));
  const slow = Array.from({ length: 200 }, (_, index) => {
    const sender = senders[Math.floor(index / SLOWNESSES.length) % senders.length] ?? client;
    return slowClient(sender, SLOWNESSES[index % SLOWNESSES.length] ?? "head");
  });
  const since = performance.now();
  await Bun.sleep(3000);
  const isPolledEnough = () => performance.now() - since > 10_000;
  const polls = { clients: 20, everySeconds: 1, paths, isOver: isPolledEnough };
  const { milliseconds, failures } = await poll(client, polls);
  const { status } = await client.send(samplePath("jfk.mp3"));
  const connected = countConnected(slow, client);
  await becomesTrue(() => countConnected(slow, client) === 0, 240);
  const seconds = (performance.now() - since) / 1000;
  const left = countConnected(slow, client);
  for (const one of slow) one[Symbol.dispose]();
  const p99 = quantile(milliseconds, 0.99);
  const gets = `${milliseconds.length} GETs, ${failures.length} failed`;
  const isFast = p99 < 50 && failures.length === 0;
  const value = `${left}, after ${seconds.toFixed(0)} s`;
  const isOver = left === 0 && connected > slow.length / 2;
  const over = "200 clients, one byte per second";
  return [
    row("p99 of GETs by other clients, ms", p99.toFixed(1), gets, "under 50", isFast),
    row("create by another client", status, over, "201", status === 201),
    row("slow clients still connected", value, `${connected} connected after 10 s`, "0", isOver),
    none("files of their uploads", filesIn(server, "incoming"), over),
  ];
}

async function cutOff(server: TestServer, random: () => number): Promise<Row[]> {
  const client = server.client("cut-off");
  const uploads = filesIn(server, "uploads");
  const file = readFileSync(samplePath("jfk.mp3"));
  const idempotencyKey = crypto.randomUUID();
  for (let done = 0; done < CUTS; done += OPEN_RECORDINGS_PER_ACCOUNT) {
    const broken = Array.from({ length: OPEN_RECORDINGS_PER_ACCOUNT }, (_, index) =>
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
  const { statuses } = await createAtOnce(server, [client], OPEN_RECORDINGS_PER_ACCOUNT, samplePath("jfk.mp3"));
  const allowance = (await client.fetch("/transcriptions")).headers.get("ratelimit") ?? "";
  const over = `${CUTS} uploads cut off`;
  const creates = tally(statuses.flat());
  const value = `${creates} ${allowance}`.trim();
  return [
    none("files of cut uploads", stray, over),
    none("recordings of cut uploads", listed, over),
    row("creates after them", value, "as many as the account's limit", "5 × 201", creates === "5 × 201"),
  ];
}

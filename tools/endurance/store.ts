import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { prepareLastStep } from "../../harness/prepare-last-step.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { TestServer } from "../../harness/server.ts";
import { inMib, MIB } from "../shared/figures.ts";
import { figure, type PartOptions, type Row, row } from "./rows.ts";
import { type Reading, readingRows, readResults, ServerWatch } from "./watch-server.ts";

const USUAL_HOURS = 18;
const SHORT_SECONDS = 600;
const POLL_MILLISECONDS = 25;
/** Additional memory that a server may use for a long recording, compared with one of ten minutes. */
const MAX_SERVER_GROWTH_BYTES = 64 * MIB;

/**
 * store: prepares a server that was stopped after transcription and diarization of 18 hours. It builds and stores the
 * segments and returns them in pages and exports. Compared with a recording of ten minutes.
 */
export async function store({ seed, hours, reportProgress }: PartOptions): Promise<Row[]> {
  const run = (seconds: number) => {
    const report = (text: string) => reportProgress(`${(seconds / 3600).toFixed(2)} h: ${text}`);
    return finishPrepared(seconds, randomNumbers(seed), report);
  };
  const short = await run(SHORT_SECONDS);
  const long = await run((hours ?? USUAL_HOURS) * 3600);
  const over = `${long.segments.length} segments compared with ${short.segments.length}`;
  const finished = `${long.watch.seconds("finish").toFixed(1)} s`;
  return [
    serverMemoryRow(long.watch, short.watch, ["finish"], over),
    figure("segments built and stored", finished, "including the server's start"),
    long.watch.pollRow("GET in the meantime", { p99: 50, maximum: 250 }),
    ...readingRows(long),
  ];
}

/** Compares the memory of two servers in some phases. */
export function serverMemoryRow(long: ServerWatch, short: ServerWatch, phases: readonly string[], over: string): Row {
  const most = long.peak("serverBytes", ...phases);
  const grown = most - short.peak("serverBytes", ...phases);
  const value = `${inMib(most)}, ${grown < 0 ? "" : "+"}${inMib(grown)}`;
  const isSmall = grown <= MAX_SERVER_GROWTH_BYTES;
  return row("server's memory", value, over, `+${inMib(MAX_SERVER_GROWTH_BYTES)}`, isSmall);
}

/** Prepares a recording before its last step, starts the server, waits for the completion and reads the results. */
async function finishPrepared(
  seconds: number,
  random: () => number,
  reportProgress: (text: string) => void,
): Promise<Reading> {
  await using server = new TestServer({ TRANSCRIBE_LOG_LEVEL: "info" });
  await server.start();
  const sender = server.client("store");
  const { id } = await sender.create(samplePath("sample.wav"), { language: "en" });
  await server.killHard();
  reportProgress("prepare");
  await prepareLastStep(server.dataDirectory, id, seconds, random);
  await server.start(false);
  const client = new TestClient(server.baseUrl, sender.key);
  using watch = new ServerWatch(server, reportProgress);
  await watch.run("finish", async () => {
    for (;;) {
      const { status } = await watch.poll(() => client.get(id));
      if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
      if (status === "completed") return;
      await Bun.sleep(POLL_MILLISECONDS);
    }
  });
  return await readResults(watch, client, id);
}

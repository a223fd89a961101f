import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { prepareLastStep } from "../../harness/prepare-last-step.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { TestServer } from "../../harness/server.ts";
import { inMib, mib, type PartOptions, type Reading, type Row, readAll, readingRows } from "./row.ts";
import { phasesOf, ServerWatch, TimedPolls } from "./watch-server.ts";

const usualHours = 18;

/**
 * store: prepares a server that was stopped after transcription and diarization of 18 hours. It builds and stores the
 * segments and returns them in pages and exports. Compared with a recording of ten minutes.
 */
export async function store({ seed, hours, reportProgress }: PartOptions): Promise<Row[]> {
  const run = (seconds: number) => finishPrepared(seconds, randomNumbers(seed), reportProgress);
  const short = await run(600);
  const long = await run((hours ?? usualHours) * 3600);
  const grown = long.watch.peak("serverBytes", "finish") - short.watch.peak("serverBytes", "finish");
  const { p99, slowest } = long.polls.sum();
  const over = `${long.segments.length} segments compared with ${short.segments.length}`;
  return [
    {
      measured: "server's memory",
      value: `${inMib(long.watch.peak("serverBytes", "finish"))}, ${grown < 0 ? "" : "+"}${inMib(grown)}`,
      over,
      target: "+64 MiB",
      ok: grown <= 64 * mib,
    },
    {
      measured: "segments built and stored",
      value: `${(long.took.get("finish") ?? 0).toFixed(1)} s`,
      over: "including the server's start",
      target: "",
      ok: true,
    },
    {
      measured: "GET in the meantime",
      value: `p99 ${p99.toFixed(0)} ms, maximum ${slowest.took.toFixed(0)} ms`,
      over: long.polls.describe(),
      target: "p99 50 ms, maximum 250 ms",
      ok: p99 < 50 && slowest.took < 250,
    },
    ...readingRows(long, long.took, long.watch),
  ];
}

async function finishPrepared(
  seconds: number,
  random: () => number,
  reportProgress: (text: string) => void,
): Promise<Finished> {
  const hours = `${(seconds / 3600).toFixed(2)} h`;
  await using server = new TestServer({ TRANSCRIBE_LOG_LEVEL: "info" });
  await server.start();
  const client = server.client("store");
  const { id } = await client.create(samplePath("sample.wav"), { language: "en" });
  await server.killHard();
  reportProgress(`${hours}: prepare`);
  await prepareLastStep(server.dataDirectory, id, seconds, random);
  await server.start(false);
  return await finish(server, new TestClient(server.baseUrl, client.key), id, (text) =>
    reportProgress(`${hours}: ${text}`),
  );
}

const pollMilliseconds = 25;

/** The result of a recording's last step and of reading it. */
export interface Finished extends Reading {
  /** Durations of GETs until completion. */
  readonly polls: TimedPolls;
  readonly watch: ServerWatch;
  /** Duration by phase in seconds. */
  readonly took: ReadonlyMap<string, number>;
}

/** Waits in the phase `finish` until a recording is completed. Then reads its pages and exports, each in a phase. */
export async function finish(
  server: TestServer,
  client: TestClient,
  id: string,
  reportProgress: (text: string) => void,
): Promise<Finished> {
  using watch = new ServerWatch(server);
  const { took, timed } = phasesOf(watch, reportProgress);
  using polls = new TimedPolls();
  await timed("finish", async () => {
    for (;;) {
      const { status } = await polls.time("finish", () => client.get(id));
      if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
      if (status === "completed") return;
      await Bun.sleep(pollMilliseconds);
    }
  });
  return { polls, watch, took, ...(await readAll(server, client, id, timed)) };
}

import { samplePath } from "../../../test/support/checkout.ts";
import { TestClient } from "../../../test/support/client.ts";
import { prepareLastStep } from "../../../test/support/prepare-last-step.ts";
import { randomNumbers } from "../../../test/support/random-numbers.ts";
import { TestServer } from "../../../test/support/server.ts";
import { inMib, mib, type PartOptions, type Reading, type Row, readAll, readingRows } from "./row.ts";
import { phasesOf, ServerWatch, TimedPolls } from "./watch-server.ts";

const usualHours = 18;

/**
 * store: a server that was stopped when 18 hours were transcribed and diarized makes segments of them, stores these, and gives
 * them in pages and exports; beside one of ten minutes. All that came before is written for it.
 */
export async function store({ seed, hours, reportProgress }: PartOptions): Promise<Row[]> {
  const run = (seconds: number) => finishPrepared(seconds, randomNumbers(seed), reportProgress);
  const short = await run(600);
  const long = await run((hours ?? usualHours) * 3600);
  const grown = long.watch.peak("serverBytes", "finish") - short.watch.peak("serverBytes", "finish");
  const { p99, slowest } = long.polls.sum();
  const over = `${long.segments.length} segments beside ${short.segments.length}`;
  return [
    {
      measured: "server's memory",
      value: `${inMib(long.watch.peak("serverBytes", "finish"))}, ${grown < 0 ? "" : "+"}${inMib(grown)}`,
      over,
      target: "+64 MiB",
      ok: grown <= 64 * mib,
    },
    {
      measured: "segments made and stored",
      value: `${(long.took.get("finish") ?? 0).toFixed(1)} s`,
      over: "with the server's start",
      target: "",
      ok: true,
    },
    {
      measured: "GET meanwhile",
      value: `99 %: ${p99.toFixed(0)} ms, most ${slowest.took.toFixed(0)} ms`,
      over: long.polls.describe(),
      target: "99 %: 50 ms, most 250 ms",
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

/** What came of a recording's last step, and of reading it. */
export interface Finished extends Reading {
  /** What GETs took until it was completed. */
  readonly polls: TimedPolls;
  readonly watch: ServerWatch;
  /** Seconds, by phase. */
  readonly took: ReadonlyMap<string, number>;
}

/** Waits until a recording is completed, in the phase `finish`, and reads its pages and exports, each a phase. */
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

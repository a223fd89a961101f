import { samplePath } from "../../../test/support/checkout.ts";
import { TestClient } from "../../../test/support/client.ts";
import { prepareLastStep } from "../../../test/support/prepare-last-step.ts";
import { randomNumbers } from "../../../test/support/random-numbers.ts";
import { TestServer } from "../../../test/support/server.ts";
import { type Finished, finish } from "./finish.ts";
import { readingRows } from "./reading.ts";
import { inMib, mib, type PartOptions, type Row } from "./row.ts";

const usualHours = 18;

/**
 * store: a server that was stopped when 18 hours were transcribed and diarized makes segments of them, stores these, and gives
 * them in pages and exports; beside one of ten minutes. All that came before is written for it.
 */
export async function store({ seed, hours, say }: PartOptions): Promise<Row[]> {
  const run = (seconds: number) => finishPrepared(seconds, randomNumbers(seed), say);
  const short = await run(600);
  const long = await run((hours ?? usualHours) * 3600);
  const grown = long.watch.most("serverBytes", "finish") - short.watch.most("serverBytes", "finish");
  const { usual, slowest } = long.polls.sum();
  const over = `${long.segments.length} segments beside ${short.segments.length}`;
  return [
    {
      measured: "server's memory",
      value: `${inMib(long.watch.most("serverBytes", "finish"))}, ${grown < 0 ? "" : "+"}${inMib(grown)}`,
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
      value: `99 %: ${usual.toFixed(0)} ms, most ${slowest.took.toFixed(0)} ms`,
      over: long.polls.describe(),
      target: "99 %: 50 ms, most 250 ms",
      ok: usual < 50 && slowest.took < 250,
    },
    ...readingRows(long, long.took, long.watch),
  ];
}

async function finishPrepared(seconds: number, random: () => number, say: (text: string) => void): Promise<Finished> {
  const hours = `${(seconds / 3600).toFixed(2)} h`;
  await using server = new TestServer({ TRANSCRIBE_LOG_LEVEL: "info" });
  await server.start();
  const client = server.client("store");
  const { id } = await client.create(samplePath("sample.wav"), { language: "en" });
  await server.killHard();
  say(`${hours}: prepare`);
  await prepareLastStep(server.dataDirectory, id, seconds, random);
  await server.start(false);
  return await finish(server, new TestClient(server.baseUrl, client.key), id, (text) => say(`${hours}: ${text}`));
}

import { join } from "node:path";
import { available, corpusPath } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { repeat } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { flag } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { asMarkdown, report, reportOptions, type Table, writeGenerated } from "../shared/table.ts";
import {
  type CapacityLoad,
  measureCommit,
  measureRequests,
  measureSyncs,
  measureTotals,
  sharesOf,
  UPLOADS_AT_ONCE,
} from "./capacity/costs.ts";
import { besideOthers, type Costs, fit, fitCosts } from "./capacity/model.ts";
import {
  checkTable,
  costsTable,
  firstLimits,
  greatestLoad,
  loadsTable,
  PLANS,
  planTable,
  plantOf,
} from "./capacity/plans.ts";
import { type Plant, type Simulated, simulate } from "./capacity/simulate.ts";
import { startBroker, startCoordinator } from "./fleet-load.ts";
import { makeRecording } from "./recordings.ts";

/** Recordings of one kind, from which the costs of a recording and of an hour follow. */
const SHORT = Array.from({ length: 80 }, () => 1);
const LONG = [60, 60, 60, 60];
/** Recordings of the three lengths, with which the simulation is compared. */
const MIXED = Array.from({ length: 10 }, () => [3, 15, 3, 15, 60, 3, 15, 3, 15, 3]).flat();

export const command = defineCommand({
  name: "scripts/bench capacity",
  about:
    "Measures what recordings cost a coordinator, and simulates 100, 1,000 and 10,000 hours of audio an hour with these costs. " +
    "The real coordinator, broker and database process recordings whose workers answer at once. A load of other recordings " +
    "shows whether the simulation is right. On two quiet cores it takes about seven minutes. --write stores the tables in docs/scale.md.",
  options: { short: flag("measure with fewer recordings"), ...reportOptions },
  async run({ short, write, ...values }) {
    if (!available("costs of a coordinator", corpusPath("manifest.json"))) return;
    const measured = await measure(short);
    const { costs } = measured;
    const check = {
      measured: measured.mixed,
      simulated: simulate(besideOthers(costs, sharesOf(measured.mixed).others), HERE, {
        minutes: measured.load,
        uploadsAtOnce: UPLOADS_AT_ONCE,
      }),
    };
    const plans: { name: string; load: number; result: Simulated }[] = [];
    for (const plan of PLANS) {
      console.error(`bench: simulating ${plan.name}`);
      plans.push({ name: plan.name, load: plan.hoursAnHour, result: simulate(costs, plantOf(plan), { ...plan }) });
    }
    console.error("bench: searching the greatest load of one coordinator");
    plans.push(greatestLoad(costs));
    const sections: (Table | string)[] = [
      costsTable(costs),
      checkTable(check),
      loadsTable(costs),
      planTable(plans),
      firstLimits(plans),
    ];
    const figures = { ...measured, check, plans };
    const heading = await report(
      { terms: [], sections, figures },
      { ...values, write: false },
      "scripts/bench capacity",
    );
    if (!write) return;
    const inPage = sections.map((one) => (typeof one === "string" ? one : asMarkdown(one)));
    const [costsText = "", checkText = "", ...rest] = inPage;
    writeGenerated("docs/scale.md", "scripts/bench capacity (costs) --write", `${heading}:\n\n${costsText}`);
    writeGenerated("docs/scale.md", "scripts/bench capacity (check) --write", checkText);
    writeGenerated("docs/scale.md", "scripts/bench capacity (plans) --write", rest.join("\n\n"));
  },
});

/** This machine in the measurement: server, broker and two workers share two cores, and the network is inside of the machine. */
const HERE: Plant = {
  ...{ cores: 2, shared: true, slots: 5, lanes: 2, laneSpeed: 1e9 },
  ...{ networkBytes: 2e9, diskBytes: 1e9, uploadBytes: 80e6, pollEverySeconds: 1e9, accounts: 1, copies: false },
};

async function measure(short: boolean) {
  if (Bun.which("strace") === null)
    throw new CommandError("the waits for the disk are counted with strace: apt-get install strace");
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryDirectory()).path;
  const { file: meetings } = await makeRecording("meetings", corpusPath(""), folder);
  const fileOf = (minutes: number) => join(folder, `${minutes}min.flac`);
  for (const minutes of [1, 3, 15, 60]) await repeat(meetings, 60 * minutes, fileOf(minutes));
  const port = freePort();
  const config = `max_payload: 8388608\nhttp: "127.0.0.1:${port}"\n`;
  const coordinator = await startCoordinator(await startBroker(stack, config), stack);
  const client = coordinator.server.client("capacity", 600_000);
  const run = async (name: string, minutes: readonly number[]) => {
    console.error(`bench: ${name}: ${minutes.length} recordings`);
    const load: CapacityLoad = { minutes, fileOf };
    const totals = await measureTotals(load, { coordinator, client, monitor: `http://127.0.0.1:${port}` });
    const speed = (3600 * totals.hours) / totals.seconds;
    console.error(`bench: ${totals.seconds.toFixed(1)} s, ${speed.toFixed(0)} hours of audio an hour`);
    return totals;
  };
  const some = (minutes: readonly number[]) => (short ? minutes.slice(0, Math.ceil(minutes.length / 4)) : minutes);
  const shortLoad = await run("short recordings", some(SHORT));
  const longLoad = await run("long recordings", some(LONG));
  const mixed = await run("recordings of several lengths", some(MIXED));
  console.error("bench: waits for the disk");
  const [ones, hour] = [Array.from({ length: 10 }, () => 1), [60]];
  const counted = {
    ones: await measureSyncs({ minutes: ones, fileOf }, { coordinator, client }),
    hour: await measureSyncs({ minutes: hour, fileOf }, { coordinator, client }),
  };
  const syncs = fit(
    { recordings: ones.length, hours: ones.length / 60, sum: counted.ones },
    { recordings: 1, hours: 1, sum: counted.hour },
  );
  console.error("bench: requests and commits");
  const requests = await measureRequests(coordinator, client, longLoad.ids[0] ?? "", 1);
  const pages = longLoad.pages / longLoad.transactions;
  const commit = measureCommit(folder, pages);
  const costs: Costs = {
    ...fitCosts(shortLoad, longLoad),
    requests,
    syncs,
    ...{ syncSeconds: commit.waitSeconds, commitSeconds: commit.cpuSeconds },
  };
  return { shortLoad, longLoad, mixed, load: some(MIXED), costs };
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

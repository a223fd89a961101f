// A worker of a fleet with a scripted engine, for scripts/bench fleet. Prints the seconds of its operations at its end.
// Whoever starts it removes its directory.
import { mkdirSync } from "node:fs";
import { Broker, FleetWorker } from "../../src/fleet/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { ScriptedEngine } from "./scripted-engine.ts";

const [, , directory = "", url = "", machine = "", build = "", model = "", timesRealTime = "100"] = process.argv;
mkdirSync(directory, { recursive: true });
const log = createLogger("error");
const broker = await Broker.connect({ url, ca: "", certificate: "", key: "", machine, log });
const engine = new ScriptedEngine(Number(timesRealTime));
const models = [{ path: "/simulation", sha256: model, prepare: async () => null }];
const worker = new FleetWorker({
  ...{ broker, build, machine, directory, log, engine, version: "simulation", instance: machine },
  models: () => models,
  status: () => ({ devices: ["simulation"], trouble: null }),
  device: () => ({ device: "cpu", gpu: "" }),
  now: Date.now,
});
process.on("SIGTERM", () => {
  void worker.stop().then(async () => {
    await broker.close();
    console.log(engine.seconds);
    process.exit(0);
  });
});

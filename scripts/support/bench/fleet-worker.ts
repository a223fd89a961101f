// A scripted worker for scripts/bench fleet: its operations take a time in proportion to their audio, and no CPU.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OperationName, Params, Result } from "../../../src/engine/index.ts";
import { Broker, FleetWorker } from "../../../src/fleet/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { chunkAudioSeconds } from "../../../src/timeline/index.ts";

const [, , url = "", machine = "", build = "", model = "", timesRealTime = "100"] = process.argv;
const directory = mkdtempSync(join(tmpdir(), "transcribe-fleet-worker-"));
const log = createLogger("error");
const broker = await Broker.connect({ url, ca: "", certificate: "", key: "", machine, log });
const worker = new FleetWorker({
  ...{ broker, build, machine, directory, log, version: "simulation", instance: machine },
  engine: {
    lanes: 1,
    partsAtOnce: 1,
    async run<N extends OperationName>(_: N, params: Params<N>): Promise<Result<N>> {
      const { chunk } = params as Params<"transcribe">;
      await Bun.sleep((1000 * chunkAudioSeconds(chunk)) / Number(timesRealTime));
      return { words: [], languages: {} } as unknown as Result<N>;
    },
  },
  models: () => [{ path: "/simulation", sha256: model, prepare: async () => null }],
  status: () => ({ devices: ["simulation"], trouble: null }),
  device: () => ({ device: "cpu", gpu: "" }),
  now: Date.now,
});
process.on("SIGTERM", () => {
  void worker.stop().then(async () => {
    await broker.close();
    rmSync(directory, { recursive: true, force: true });
    process.exit(0);
  });
});

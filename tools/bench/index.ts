// scripts/bench: measures speed, memory and the cost of growth.
import { removeTemporaryDirectories } from "../../harness/temporary-directory.ts";
import { runWithParts } from "../shared/command.ts";
import { beforeStop } from "../shared/processes.ts";

beforeStop(removeTemporaryDirectories);

await runWithParts(
  () => import("./compare.ts"),
  {
    capacity: [
      "what recordings cost a coordinator, and a simulation of 100, 1,000 and 10,000 hours an hour",
      () => import("./capacity.ts"),
    ],
    console: [
      "the console's page with a transcript of 18 hours, also while it is corrected",
      () => import("./console.ts"),
    ],
    exports: ["time and memory of exporting an 18 h transcript in every format", () => import("./exports.ts")],
    fleet: ["scaling of a fleet, load on its coordinator, and overhead with one worker", () => import("./fleet.ts")],
    gpu: ["each GPU with several operations at once, with Whisper base and a large model", () => import("./gpu.ts")],
    live: ["delay, accuracy and cost of live transcription, compared with other programs", () => import("./live.ts")],
    "live-simulation": [
      "accuracy and delays of the method of live transcription, on the whole corpus in virtual time",
      () => import("./live-simulation.ts"),
    ],
    parakeet: [
      "the recognizer alone with a model of Parakeet's size and random weights",
      () => import("./parakeet.ts"),
    ],
    rows: ["time and memory of a server with 1,000, 100,000 and 1,000,000 recordings", () => import("./rows.ts")],
    scale: [
      "cost of growth: more recordings at once, longer ones, more threads or devices",
      () => import("./scale.ts"),
    ],
    speakers: [
      "CPU time of speech detection and speaker diarization, and the cores that a GPU needs",
      () => import("./speakers.ts"),
    ],
    start: ["start time of a server, and its memory when idle", () => import("./start.ts")],
  },
  process.argv.slice(2),
);

// scripts/evaluate: measures quality against references.
import { removeTemporaryDirectories } from "../../harness/temporary-directory.ts";
import { runWithParts } from "../shared/command.ts";
import { beforeStop } from "../shared/processes.ts";

beforeStop(removeTemporaryDirectories);

await runWithParts(
  () => import("./quality.ts"),
  {
    curve: ["measures the diarization with several values of a constant", () => import("./curve.ts")],
    devices: ["compares the words recognized on a GPU with those on the CPU", () => import("./devices.ts")],
    diarization: ["measures the diarization alone, quickly", () => import("./diarization.ts")],
    formats: ["decodes a voice in every codec and container, and compares the samples", () => import("./formats.ts")],
    hints: ["compares transcripts with and without a prompt and speaker counts", () => import("./hints.ts")],
    rooms: ["measures the diarization of meetings in simulated rooms", () => import("./rooms.ts")],
    voices: ["measures proposals of voices that are known again", () => import("./voices.ts")],
    translation: [
      "compares translations to English with references and faster-whisper",
      () => import("./translation.ts"),
    ],
    slots: ["compares texts that are decoded together with those of states alone", () => import("./slots.ts")],
  },
  process.argv.slice(2),
);

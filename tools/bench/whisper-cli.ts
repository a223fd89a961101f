import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { corpusPath, mediaToolPath, root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadGgml } from "../../src/speech/ggml.ts";
import { openModel } from "../../src/speech/recognizer/whisper/index.ts";
import { defineCommand } from "../shared/command.ts";
import { median } from "../shared/figures.ts";
import { whole } from "../shared/options.ts";
import { runCommand } from "../shared/run-command.ts";
import { buildWhisperCli, runMeasured, whisperBase } from "./whisper-cpp.ts";

const DEFAULT_RECORDING = corpusPath("dialogue/dlg-02-2spk-MM.flac");

export const command = defineCommand({
  name: "scripts/bench whisper-cli",
  about:
    "Compares the addon's speed with whisper.cpp's own command line program, whisper-cli: with the same libraries, model, " +
    "settings and recording. Each run is a process, in turns. A RECORDING replaces a dialogue of the corpus.",
  names: "RECORDING",
  options: {
    runs: whole("number of runs", { fallback: 5 }),
    threads: whole("number of threads", { fallback: availableParallelism() }),
    beamSize: whole("width of the beam", { fallback: 5 }),
  },
  async run({ runs, threads, beamSize }, [recording = DEFAULT_RECORDING]) {
    const whisperCli = await buildWhisperCli();
    using folder = temporaryDirectory();
    const wave = join(folder.path, "recording.wav");
    const text = join(folder.path, "text");
    const bitexact = ["-fflags", "+bitexact", "-flags:a", "+bitexact"];
    await runCommand([mediaToolPath, "-v", "error", "-i", recording, "-ac", "1", "-ar", "16000", ...bitexact, wave]);
    const settings = ["--threads", String(threads), "--beam-size", String(beamSize)];
    const task: Task = { wave, threads, beamSize };
    const commands = {
      // The text goes into a file, because the output with alignment lacks segments.
      "whisper-cli": [
        ...[whisperCli, "-m", whisperBase, "-f", wave, "-l", "en", "-dtw", "base", "-fa", "-np", "-otxt", "-of", text],
        ...settings,
      ],
      addon: [process.execPath, "--no-env-file", import.meta.path, JSON.stringify(task)],
    };
    const done: Record<keyof typeof commands, Awaited<ReturnType<typeof runMeasured>>[]> = {
      ...{ "whisper-cli": [], addon: [] },
    };
    for (let run = 0; run < runs; run++) {
      for (const name of ["whisper-cli", "addon"] as const) {
        const measured = await runMeasured(commands[name]);
        done[name].push(measured);
        console.error(`${name}: ${measured.seconds.toFixed(2)} s, ${measured.cpuSeconds.toFixed(2)} s of CPU`);
      }
    }
    console.log(`${recording}, ${runs} runs each, ${threads} threads, beam size ${beamSize}; medians`);
    for (const [what, figure] of [["time", "seconds"] as const, ["CPU time", "cpuSeconds"] as const]) {
      const cli = median(done["whisper-cli"].map((run) => run[figure]));
      const addon = median(done.addon.map((run) => run[figure]));
      const figures = `whisper-cli ${cli.toFixed(2)} s  addon ${addon.toFixed(2)} s  ratio ${(addon / cli).toFixed(3)}`;
      console.log(`${what.padEnd(8)}  ${figures}`);
    }
    const texts = [await Bun.file(`${text}.txt`).text(), done.addon[0]?.output ?? ""].map((one) =>
      one.replace(/\s+/g, " ").trim(),
    );
    console.log(`same text: ${texts[0] === texts[1] ? "yes" : "no"}`);
  },
});

const taskSchema = Type.Object({ wave: Type.String(), threads: Type.Integer(), beamSize: Type.Integer() });
type Task = Static<typeof taskSchema>;

/** Does with the addon what whisper-cli does. */
async function transcribeWave({ wave, threads, beamSize }: Task): Promise<string> {
  const pcm = new Int16Array(await Bun.file(wave).slice(44).arrayBuffer());
  const samples = Float32Array.from(pcm, (sample) => sample / 32768);
  const opened = openModel(loadGgml({ nativeDirectory: join(root, "build/native") }), whisperBase, true);
  const { segments } = await opened.createState().transcribe(samples, { language: "en", threads, beamSize });
  return segments.map((segment) => segment.text).join("");
}

if (import.meta.main)
  process.stdout.write(await transcribeWave(Value.Parse(taskSchema, JSON.parse(process.argv[2] ?? ""))));

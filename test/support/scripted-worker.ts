/**
 * A worker that follows a script, for tests of the engine. It speaks the real protocol and really crashes, without
 * loading a model. The script is in `area.pcm.path` of the parameters:
 * - `kill` ends the process with SIGKILL, `crash` with SIGSEGV,
 * - `crash-until:N:FILE` and `kill-until:N:FILE` do so the first N times, `gpu-until:N:FILE` makes its GPU fail as often,
 * - `fail` reports an error, `nonsense` a result of another shape, and `wait` never answers.
 *
 * The result of `detectLanguage` names the GPU that the environment makes visible. A speech model named `slow-once`
 * makes the first start never finish.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

const attempts = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").length : 0);

process.on("disconnect", () => process.exit(0));
interface Message {
  readonly type: string;
  readonly id: number;
  readonly operation: string;
  readonly params: { readonly area?: { readonly pcm: { readonly path: string } } };
  readonly speechModel: string;
  readonly slots?: number;
}

const visibleGpu = process.env.CUDA_VISIBLE_DEVICES ?? "all";
const answers: Readonly<Record<string, unknown>> = {
  detectLanguage: { probabilities: { [visibleGpu]: 1 } },
  translate: { words: [] },
  transcribeLive: { words: [] },
};

process.on("message", (message: Message) => {
  if (message.type === "start") {
    if (message.speechModel.endsWith("/slow-once") && attempts(message.speechModel) === 0) {
      appendFileSync(message.speechModel, "x");
      return;
    }
    process.send?.({ type: "ready", cpuVariant: "scripted", devices: [], speechDevice: "cuda" });
    process.send?.({ type: "gpuMemory", memory: { freeBytes: 7, totalBytes: 9 } });
    if (message.slots !== undefined) process.send?.({ type: "decoderWork", work: { steps: 2, rows: 9 } });
  }
  if (message.type !== "run") return;
  const [action, times, file] = (message.params.area?.pcm.path ?? "answer").split(":");
  if (action === "kill") process.kill(process.pid, "SIGKILL");
  else if (action === "crash") process.kill(process.pid, "SIGSEGV");
  else if (action === "crash-until" && attempts(file ?? "") < Number(times)) {
    appendFileSync(file ?? "", "x");
    process.kill(process.pid, "SIGSEGV");
  } else if (action === "kill-until" && attempts(file ?? "") < Number(times)) {
    appendFileSync(file ?? "", "x");
    process.kill(process.pid, "SIGKILL");
  } else if (action === "gpu-until" && attempts(file ?? "") < Number(times)) {
    appendFileSync(file ?? "", "x");
    process.send?.({ type: "gpuFailed", failure: { message: "device lost", outOfMemory: false } });
  } else if (action === "fail") process.send?.({ type: "failed", id: message.id, message: "as scripted" });
  else if (action === "nonsense") process.send?.({ type: "done", id: message.id, result: { chunks: "none" } });
  else if (action !== "wait")
    setTimeout(() => {
      const result = answers[message.operation] ?? { chunks: [] };
      process.send?.({ type: "done", id: message.id, result });
    }, 5);
});

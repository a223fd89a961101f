/**
 * A worker that does as the parameters say, to try the engine's rules on: it speaks the real protocol and dies real
 * deaths, without loading a model. `planChunks` is the operation whose parameters carry the script, in `area.pcm.path`:
 * `die` kills the process, `crash` has it crash, `die-until:N:FILE` does so for the first N times, `gpu-until:N:FILE` has its GPU fail
 * as often, `fail` throws, `wait` never answers. `detectLanguage` does as told, too; its answer names the GPU that the
 * environment lets the worker see. A whisper model that is not there yet makes the start wait for ever, once.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

const tries = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").length : 0);

process.on("disconnect", () => process.exit(0));
interface Message {
  readonly type: string;
  readonly id: number;
  readonly operation: string;
  readonly params: { readonly area?: { readonly pcm: { readonly path: string } } };
  readonly speechModel: string;
}

const seen = process.env.CUDA_VISIBLE_DEVICES ?? "all";
const answers: Readonly<Record<string, unknown>> = { detectLanguage: { probabilities: { [seen]: 1 } } };

process.on("message", (message: Message) => {
  if (message.type === "start") {
    if (message.speechModel.endsWith("/slow-once") && tries(message.speechModel) === 0) {
      appendFileSync(message.speechModel, "x");
      return;
    }
    process.send?.({ type: "ready", cpuVariant: "scripted", devices: [], speechDevice: "cuda" });
    process.send?.({ type: "gpuMemory", memory: { freeBytes: 7, totalBytes: 9 } });
  }
  if (message.type !== "run") return;
  const [what, times, file] = (message.params.area?.pcm.path ?? "answer").split(":");
  if (what === "die") process.kill(process.pid, "SIGKILL");
  else if (what === "crash") process.kill(process.pid, "SIGSEGV");
  else if (what === "die-until" && tries(file ?? "") < Number(times)) {
    appendFileSync(file ?? "", "x");
    process.kill(process.pid, "SIGSEGV");
  } else if (what === "gpu-until" && tries(file ?? "") < Number(times)) {
    appendFileSync(file ?? "", "x");
    process.send?.({ type: "gpuFailed", failure: { message: "device lost", outOfMemory: false } });
  } else if (what === "fail") process.send?.({ type: "failed", id: message.id, message: "as told" });
  else if (what === "nonsense") process.send?.({ type: "done", id: message.id, result: { chunks: "none" } });
  else if (what !== "wait")
    setTimeout(() => {
      const result = answers[message.operation] ?? { chunks: [] };
      process.send?.({ type: "done", id: message.id, result });
    }, 5);
});

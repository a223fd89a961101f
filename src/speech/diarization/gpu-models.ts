import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { SpeakerPart } from "../../engine/index.ts";
import { GpuError } from "../gpu-error.ts";
import type { SpeakerModel } from "./open-models.ts";

/** Models on a GPU. They share its queue, which ONNX Runtime doesn't guard between sessions: one runs at a time. */
export class GpuModels {
  readonly #load: (path: string) => Promise<InferenceSession>;
  #last: Promise<unknown> = Promise.resolve();

  /** @param load opens a model on the GPU */
  constructor(load: (path: string) => Promise<InferenceSession>) {
    this.#load = load;
  }

  /** @throws {GpuError} where the GPU can't be used for it */
  async open(part: SpeakerPart, path: string): Promise<SpeakerModel> {
    const session = await this.#inTurn(() => this.#load(path));
    const run: SpeakerModel["run"] = async (feeds) => {
      const results = await session.run(feeds);
      for (const { data } of Object.values(results)) checkNumbers(part, data);
      return results;
    };
    return { run: (feeds) => this.#inTurn(() => run(feeds)), release: () => this.#inTurn(() => session.release()) };
  }

  async #inTurn<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(job);
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } catch (error) {
      throw new GpuError(error, "speakers");
    }
  }
}

/** A GPU that is lost may leave its answers as they were, empty: what a model gives is probabilities, or lists of length 1. */
function checkNumbers(part: SpeakerPart, data: Tensor["data"]): void {
  if (!(data instanceof Float32Array)) return;
  let sum = 0;
  for (const value of data) sum += part === "segmentation" ? value : value * value;
  if (sum > 0 && sum <= data.length) return;
  throw new Error(`the GPU gives no numbers that the ${part} model could give`);
}

import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { SpeakerPart } from "../../engine/index.ts";
import { GpuError } from "../gpu-error.ts";
import type { SpeakerModel } from "./open-models.ts";

/**
 * Loader of models on a GPU. The models share the GPU's queue, which ONNX Runtime does not guard between sessions.
 * Therefore only one model runs at a time.
 */
export class GpuModels {
  readonly #load: (path: string) => Promise<InferenceSession>;
  #last: Promise<unknown> = Promise.resolve();

  /** @param load opens a model on the GPU */
  constructor(load: (path: string) => Promise<InferenceSession>) {
    this.#load = load;
  }

  /** @throws {GpuError} if the GPU cannot be used for the model */
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

/**
 * Throws if a model cannot have produced these numbers. A lost GPU may leave its output buffers unchanged, filled with
 * zeros. Segmentation outputs probabilities, and embedding outputs vectors of unit length.
 */
function checkNumbers(part: SpeakerPart, data: Tensor["data"]): void {
  if (!(data instanceof Float32Array)) return;
  let sum = 0;
  for (const value of data) sum += part === "segmentation" ? value : value * value;
  if (sum > 0 && sum <= data.length) return;
  throw new Error(`the GPU gives no numbers that the ${part} model could give`);
}

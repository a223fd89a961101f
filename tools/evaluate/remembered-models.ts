import type { openModels } from "../../harness/diarized-recording.ts";

type Models = Awaited<ReturnType<typeof openModels>>;
type Model = Models["segmentation"];

/**
 * Returns models that compute each input once and remember the results in memory. A diarization that is repeated with
 * another constant then computes only what the constant changes: with another limit for the choice of the network, the
 * blocks that get the other network.
 */
export function rememberResults({ segmentation, embedding, dispose }: Models): Models {
  return { segmentation: remembering(segmentation), embedding: remembering(embedding), dispose };
}

function remembering(model: Model): Model {
  const known = new Map<string, ReturnType<Model["run"]>>();
  return {
    run(waveform, others = []) {
      const key = JSON.stringify([hashOf(waveform), ...others.map(hashOf)]);
      let result = known.get(key);
      if (result === undefined) {
        result = model.run(waveform, others);
        known.set(key, result);
      }
      return result;
    },
    release: () => model.release(),
  };
}

function hashOf({ data, dims }: Parameters<Model["run"]>[0]): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return `${Bun.hash(bytes)} ${dims.join(" ")}`;
}

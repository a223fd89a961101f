import type { ModelBytes } from "../whisper/small-models.ts";
import { partBytes, type RandomModelOptions, randomModel, tinyModel } from "./random-model.ts";

/** A small Parakeet model, and where its numbers and tensors lie. */
export function smallParakeet(options: RandomModelOptions = tinyModel): ModelBytes {
  const bytes: Uint8Array[] = [];
  const numbers: number[] = [];
  const tensors: number[] = [];
  let length = 0;
  let pieces = 0;
  const chunks = partBytes(options);
  const take = () => {
    const chunk = chunks.next().value;
    bytes.push(chunk);
    length += chunk.byteLength;
  };
  for (const part of randomModel(options)) {
    if (part.kind === "tensor") {
      tensors.push(length);
      for (let i = 0; i < 3 + part.shape.length; i++) numbers.push(length + 4 * i);
      for (let i = 0; i < 3; i++) take();
      continue;
    }
    // The lengths of a few pieces are enough.
    if (part.kind === "number" || (part.kind === "text" && pieces++ < 4)) numbers.push(length);
    if (part.kind === "text") take();
    take();
  }
  return { bytes: Buffer.concat(bytes), numbers, tensors: [...tensors, length] };
}

import type { FileHandle } from "node:fs/promises";
import type { StoredBytes } from "./onnx-graph.ts";

/** Size of a memory page: weights that start on a page boundary can be mapped into memory directly. */
const alignment = 4096;

/** Writer of the weights file next to the model, which refers to the weights by offset. */
export class WeightsFile {
  readonly #file: FileHandle;
  readonly #name: string;
  #end = 0;

  constructor(file: FileHandle, name: string) {
    this.#file = file;
    this.#name = name;
  }

  async add(values: Float32Array | Uint16Array): Promise<StoredBytes> {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const offset = Math.ceil(this.#end / alignment) * alignment;
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    }
    this.#end = offset + bytes.length;
    return { file: this.#name, offset, length: bytes.length };
  }
}

import type { FileHandle } from "node:fs/promises";
import type { StoredBytes } from "./onnx-graph.ts";

/** A page: weights that begin at one can be mapped into memory as they lie. */
const alignment = 4096;

/** Weights, one after the other in the file beside the model that names them. */
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

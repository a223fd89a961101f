/** ggml's storage layout of a tensor's elements: a row consists of whole blocks. */
export interface TensorType {
  readonly name: string;
  readonly blockElements: number;
  readonly blockBytes: number;
}

export const FLOAT32 = 0;
export const FLOAT16 = 1;

/** The element types of model files, by ggml's number (ggml.h, `enum ggml_type`). */
export const tensorTypes: ReadonlyMap<number, TensorType> = new Map([
  [FLOAT32, { name: "f32", blockElements: 1, blockBytes: 4 }],
  [FLOAT16, { name: "f16", blockElements: 1, blockBytes: 2 }],
  [2, { name: "q4_0", blockElements: 32, blockBytes: 18 }],
  [3, { name: "q4_1", blockElements: 32, blockBytes: 20 }],
  [6, { name: "q5_0", blockElements: 32, blockBytes: 22 }],
  [7, { name: "q5_1", blockElements: 32, blockBytes: 24 }],
  [8, { name: "q8_0", blockElements: 32, blockBytes: 34 }],
  [10, { name: "q2_K", blockElements: 256, blockBytes: 84 }],
  [11, { name: "q3_K", blockElements: 256, blockBytes: 110 }],
  [12, { name: "q4_K", blockElements: 256, blockBytes: 144 }],
  [13, { name: "q5_K", blockElements: 256, blockBytes: 176 }],
  [14, { name: "q6_K", blockElements: 256, blockBytes: 210 }],
]);

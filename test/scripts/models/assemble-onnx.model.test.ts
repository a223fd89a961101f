import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { ModelError } from "../../../src/models/index.ts";
import { assembleOnnx } from "../../../tools/models/assemble-onnx.ts";

/** Encodes the ONNX model y = x · w without the weights w [300], by onnx.proto. */
function graphWithoutWeights(): Uint8Array {
  const dimension = (value: number) => field(1, field(1, varint(value), 0));
  const tensorNamed = (name: string) =>
    Buffer.concat([
      field(1, name),
      field(2, field(1, Buffer.concat([field(1, varint(1), 0), field(2, dimension(300))]))),
    ]);
  const node = Buffer.concat([field(1, "x"), field(1, "w"), field(2, "y"), field(4, "Mul")]);
  const graph = Buffer.concat([
    field(1, node),
    field(2, "test"),
    field(11, tensorNamed("x")),
    field(12, tensorNamed("y")),
  ]);
  const opset = field(2, varint(17), 0);
  return Buffer.concat([field(1, varint(8), 0), field(7, graph), field(8, opset)]);
}

function field(number: number, content: Uint8Array | string, wireType = 2): Uint8Array {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(number * 8 + wireType), ...(wireType === 2 ? [varint(bytes.length)] : []), bytes]);
}

function varint(value: number): Uint8Array {
  return value < 128
    ? Uint8Array.of(value)
    : Uint8Array.from([(value % 128) + 128, ...varint(Math.floor(value / 128))]);
}

const directory = temporaryDirectory();
const at = (name: string) => join(directory.path, name);
const weights = Float32Array.from({ length: 300 }, (_, place) => Math.fround(0.1 * place - 7));

beforeAll(async () => {
  await Bun.write(at("graph.onnx"), graphWithoutWeights());
  // Seven bytes come first, because weights need no alignment.
  await Bun.write(at("weights.bin"), Buffer.concat([Buffer.alloc(7, 1), new Uint8Array(weights.buffer)]));
});
afterAll(() => directory[Symbol.dispose]());

async function assemble(tensors: unknown, output: string): Promise<string> {
  await Bun.write(at("tensors.json"), JSON.stringify(tensors));
  const input = { graphPath: at("graph.onnx"), tensorsPath: at("tensors.json"), weightsPath: at("weights.bin") };
  await assembleOnnx(input, at(output));
  return at(output);
}

describe("a graph and its weights, assembled", () => {
  test("are a model that computes with exactly these weights", async () => {
    const path = await assemble([{ name: "w", offset: 7, dims: [300] }], "whole.onnx");
    const { InferenceSession, Tensor } = await import("onnxruntime-node");
    const session = await InferenceSession.create(path);
    const { y } = await session.run({ x: new Tensor("float32", new Float32Array(300).fill(2), [300]) });
    expect(y?.data).toEqual(weights.map((weight) => 2 * weight));
  });

  test.each<[string, unknown, RegExp]>([
    ["a tensor that reaches past the end of the weights", [{ name: "w", offset: 8, dims: [300] }], /ends too early/],
    ["a tensor that begins after their end", [{ name: "w", offset: 1e9, dims: [1] }], /ends too early/],
    ["a tensor without dimensions", [{ name: "w", offset: 0, dims: [] }], /not a list of tensors/],
    ["dimensions below one", [{ name: "w", offset: 0, dims: [-1] }], /not a list of tensors/],
    ["no tensor", [], /not a list of tensors/],
    ["an object instead of a list", { name: "w" }, /not a list of tensors/],
  ])("are refused with %s", async (_, tensors, reason) => {
    const attempt = assemble(tensors, "refused.onnx");
    await expect(attempt).rejects.toThrow(ModelError);
    await expect(attempt).rejects.toThrow(reason);
    await Bun.file(at("refused.onnx"))
      .delete()
      .catch(() => {});
  });

  test("never replace an existing file", async () => {
    await Bun.write(at("there.onnx"), "mine");
    await expect(assemble([{ name: "w", offset: 7, dims: [300] }], "there.onnx")).rejects.toThrow(/EEXIST/);
    expect(existsSync(at("there.onnx"))).toBe(true);
    expect(await Bun.file(at("there.onnx")).text()).toBe("mine");
  });
});

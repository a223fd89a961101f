import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { readJsonBody } from "../../../src/http/compat/realtime/json-body.ts";

const schema = Type.Object({ seconds: Type.Optional(Type.Integer()) });
const post = (body: string | ReadableStream<Uint8Array>) => new Request("http://localhost", { method: "POST", body });

test("a small body in JSON is read; no body is an empty object", async () => {
  expect(await readJsonBody(post('{"seconds": 5}'), schema)).toEqual({ seconds: 5 });
  expect(await readJsonBody(new Request("http://localhost", { method: "POST" }), schema)).toEqual({});
});

test("a body that does not end in time is refused with 408", async () => {
  const endless = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
  await expect(readJsonBody(post(endless), schema, 1)).rejects.toMatchObject({ openAi: { status: 408 } });
});

test("a body that is too long is refused before its end arrives", async () => {
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024)) });
  await expect(readJsonBody(post(endless), schema)).rejects.toMatchObject({ code: "file_too_large" });
});

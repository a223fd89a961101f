import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { signedHeaders } from "../../src/webhooks/signature.ts";

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
const body = '{"type":"recording.completed","data":{"id":"ä"}}';

test("a message is signed with HMAC-SHA256 of its id, its time and its body", () => {
  const headers = signedHeaders("id-1", body, [secretOf(1)], 1_700_000_000_999);
  const expected = createHmac("sha256", Buffer.alloc(32, 1)).update(`id-1.1700000000.${body}`).digest("base64");
  expect(headers).toEqual({
    "webhook-id": "id-1",
    "webhook-timestamp": "1700000000",
    "webhook-signature": `v1,${expected}`,
  });
});

test("during a rotation the verifier accepts a message with either secret, and with no other", () => {
  const headers = signedHeaders("id-1", body, [secretOf(1), secretOf(2)], Date.now());
  for (const byte of [1, 2]) expect(new Webhook(secretOf(byte)).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secretOf(3)).verify(body, headers)).toThrow("No matching signature");
  expect(() => new Webhook(secretOf(1)).verify(`${body} `, headers)).toThrow("No matching signature");
});

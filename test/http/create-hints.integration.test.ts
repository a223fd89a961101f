import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { errorOf } from "../../harness/client.ts";
import { fingerprintOf } from "../../src/http/api/idempotency.ts";
import { someUrl } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";

// A link is stored without being fetched, so no recording is needed.
const server = new ApiServer({ recordingsPerAccount: 1000 });
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");

function send(parts: Record<string, string>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ url: someUrl, ...parts })) body.append(name, value);
  return client.fetch("/transcriptions", { method: "POST", body });
}

const none = { prompt: null, minSpeakers: null, maxSpeakers: null };

describe("the hints of a create", () => {
  const accepted: [string, Record<string, string>, Partial<typeof none> | object][] = [
    ["no hint", {}, none],
    ["an exact number of speakers", { speakers: "1" }, { ...none, minSpeakers: 1, maxSpeakers: 1 }],
    ["the largest number of speakers", { speakers: "50" }, { ...none, minSpeakers: 50, maxSpeakers: 50 }],
    ["a minimum", { min_speakers: "2" }, { ...none, minSpeakers: 2 }],
    ["a maximum", { max_speakers: "4" }, { ...none, maxSpeakers: 4 }],
    ["equal bounds", { min_speakers: "3", max_speakers: "3" }, { ...none, minSpeakers: 3, maxSpeakers: 3 }],
    ["an empty prompt", { prompt: "" }, none],
    ["a prompt of white space", { prompt: " \r\n\t" }, none],
    ["a prompt of several lines", { prompt: "Zau al-Makan\nHelstone" }, { ...none, prompt: "Zau al-Makan, Helstone" }],
    ["a prompt of 2,000 characters", { prompt: "😀a".repeat(1000) }, { ...none, prompt: "😀a".repeat(1000) }],
    ["a prompt of 1,000 lines", { prompt: "a\n".repeat(1000) }, { ...none, prompt: Array(1000).fill("a").join(", ") }],
  ];
  for (const [what, parts, expected] of accepted) {
    test(`${what}: accepted and stored, and no answer shows it`, async () => {
      const response = await send(parts);
      expect(response.status).toBe(201);
      const text = await response.text();
      expect(text).not.toMatch(/prompt|speakers/);
      expect(server.recordings.get(JSON.parse(text).id)).toMatchObject(expected);
    });
  }

  const refused: [string, Record<string, string>, string][] = [
    ["no speakers", { speakers: "0" }, "speakers"],
    ["51 speakers", { speakers: "51" }, "speakers"],
    ["an empty number of speakers", { speakers: "" }, "speakers"],
    ["a negative minimum", { min_speakers: "-1" }, "min_speakers"],
    ["half a speaker", { max_speakers: "1.5" }, "max_speakers"],
    ["a number with an exponent", { max_speakers: "1e1" }, "max_speakers"],
    ["a number in words", { speakers: "two" }, "speakers"],
    ["a number with a space", { speakers: " 2" }, "speakers"],
    ["a number of hundreds of digits", { speakers: "0".repeat(500) }, "speakers"],
    ["both a number and a minimum", { speakers: "2", min_speakers: "2" }, "speakers"],
    ["both a number and a maximum", { speakers: "2", max_speakers: "2" }, "speakers"],
    ["a minimum above the maximum", { min_speakers: "3", max_speakers: "2" }, "min_speakers"],
    ["a prompt of 2,001 characters", { prompt: "a".repeat(2001) }, "prompt"],
    ["a prompt that is cut off while it is read", { prompt: "😀a".repeat(5000) }, "prompt"],
    ["a prompt with a control character", { prompt: "Zau\u0000Makan" }, "prompt"],
    ["a prompt that reorders text", { prompt: "Zau\u202eMakan" }, "prompt"],
    ["a prompt without a word", { prompt: ", ; –" }, "prompt"],
  ];
  for (const [what, parts, field] of refused) {
    test(`${what}: 422 under ${field}, and nothing is entered`, async () => {
      const before = server.queued.length;
      const { error, errors } = await errorOf(await send(parts), 422);
      expect([error, Object.keys(errors ?? {})]).toEqual(["validation_failed", [field]]);
      expect(JSON.stringify(errors)).not.toContain("Makan");
      expect(server.queued).toHaveLength(before);
    });
  }

  test("are refused under their name if they occur twice", async () => {
    for (const name of ["prompt", "speakers", "min_speakers", "max_speakers"]) {
      const body = new FormData();
      for (const [part, value] of [
        ["url", someUrl],
        [name, "2"],
        [name, "2"],
      ] as const)
        body.append(part, value);
      const { errors } = await errorOf(await client.fetch("/transcriptions", { method: "POST", body }), 422);
      expect(Object.keys(errors ?? {})).toEqual([name]);
    }
  });

  test("that are absent leave the fingerprint of a create as it was in earlier versions", () => {
    const compared = JSON.stringify([null, null, someUrl, "de"]);
    const before = createHash("sha256").update(compared).digest("hex");
    const upload = { ok: true as const, file: null, async [Symbol.asyncDispose]() {} };
    expect(fingerprintOf({ ...upload, fields: { url: someUrl, language: "de" } })).toBe(before);
    expect(fingerprintOf({ ...upload, fields: { url: someUrl, language: "de", speakers: "2" } })).not.toBe(before);
  });

  test("never reach the log", async () => {
    await send({ prompt: "Leverrier" });
    await send({ prompt: "Leverrier\u0000" });
    expect(JSON.stringify(server.log)).not.toContain("Leverrier");
  });
});

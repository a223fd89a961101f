import { describe, expect, test } from "bun:test";
import {
  EventParser,
  MAX_DATA_BYTES,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  type WyomingEvent,
} from "../../src/wyoming/event-parser.ts";
import { WyomingError } from "../../src/wyoming/wyoming-error.ts";

/** Parses bytes in fragments of a size, and joins the fragments of each payload. */
function parse(bytes: Uint8Array | string, size = Number.POSITIVE_INFINITY) {
  const parser = new EventParser();
  const all = Buffer.from(bytes);
  const parts: { event: WyomingEvent; payload: string }[] = [];
  for (let at = 0; at < all.length; at += size) {
    for (const part of parser.push(all.subarray(at, Math.min(all.length, at + size)))) {
      const last = parts.at(-1);
      if (part.kind === "event") parts.push({ event: part.event, payload: "" });
      else if (last !== undefined) last.payload += Buffer.from(part.bytes).toString("latin1");
    }
  }
  return { parts, isBetweenEvents: parser.isBetweenEvents };
}

/** Returns the code of the error that bytes cause; null if they cause none. */
function errorOf(bytes: Uint8Array | string): string | null {
  try {
    parse(bytes);
    return null;
  } catch (error) {
    if (error instanceof WyomingError) return error.code;
    throw error;
  }
}

const data = '{"rate":16000,"title":"für"}';
const dataBytes = Buffer.byteLength(data);
const stream = [
  '{"type":"describe"}\n',
  `{"type":"audio-start","data":{"rate":8000,"width":2},"data_length":${dataBytes}}\n${data}`,
  `{"type":"audio-chunk","data_length":2,"payload_length":5}\r\n{}ab\ncd`,
  '{"type":"ping","data":null,"data_length":null,"payload_length":null,"version":"1.10.2"}\n',
  '{"type":"audio-stop","data_length":0,"payload_length":0}\n',
].join("");

describe("the parser of events", () => {
  test.each([1, 2, 3, 7, 64, 100_000])("reads events that arrive in fragments of %p bytes", (size) => {
    expect(parse(stream, size)).toEqual({
      parts: [
        { event: { type: "describe", data: {} }, payload: "" },
        { event: { type: "audio-start", data: { rate: 16_000, width: 2, title: "für" } }, payload: "" },
        { event: { type: "audio-chunk", data: {} }, payload: "ab\ncd" },
        { event: { type: "ping", data: {} }, payload: "" },
        { event: { type: "audio-stop", data: {} }, payload: "" },
      ],
      isBetweenEvents: true,
    });
  });

  test.each(['{"type":', '{"type":"x","data_length":9}\n{', '{"type":"x","payload_length":9}\nab'])(
    "knows that %p is no complete event",
    (text) => {
      expect(parse(text).isBetweenEvents).toBe(false);
    },
  );

  test("passes a payload on before it has arrived as a whole", () => {
    const parser = new EventParser();
    const [, payload] = [...parser.push(Buffer.from('{"type":"audio-chunk","payload_length":1000000}\nabc'))];
    expect(payload).toEqual({ kind: "payload", bytes: Buffer.from("abc") });
  });

  test("takes a field named __proto__ as a field", () => {
    const [part] = parse('{"type":"x","data":{"__proto__":{"rate":1}}}\n').parts;
    expect(part?.event.data.rate).toBeUndefined();
  });

  test.each<[string, string, string | Uint8Array]>([
    ["an empty line", "malformed", "\n"],
    ["text", "malformed", "GET / HTTP/1.1\r\n"],
    ["JSON that ends early", "malformed", '{"type":"describe"\n'],
    ["an array", "malformed", '["describe"]\n'],
    ["a header without a type", "malformed", '{"data":{}}\n'],
    ["a type that is a number", "malformed", '{"type":1}\n'],
    ["a type without characters", "malformed", '{"type":""}\n'],
    ["a type of 101 characters", "malformed", `{"type":"${"x".repeat(101)}"}\n`],
    ["data that is a text", "malformed", '{"type":"x","data":"text"}\n'],
    ["separate data that is an array", "malformed", '{"type":"x","data_length":2}\n[]'],
    ["separate data that is no JSON", "malformed", '{"type":"x","data_length":2}\n{x'],
    ["a negative length", "malformed", '{"type":"x","data_length":-1}\n'],
    ["a negative length of a payload", "malformed", '{"type":"x","payload_length":-1}\n'],
    ["a length with a fraction", "malformed", '{"type":"x","payload_length":1.5}\n'],
    ["a length that is a text", "malformed", '{"type":"x","data_length":"2"}\n{}'],
    ["an endless length", "malformed", '{"type":"x","payload_length":1e999}\n'],
    ["bytes that are not UTF-8", "malformed", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a])],
    ["JSON that is nested thousands of times", "malformed", `${"[".repeat(60_000)}\n`],
    ["a header that is too long", "too_large", "x".repeat(MAX_HEADER_BYTES + 1)],
    ["data that would be too long", "too_large", `{"type":"x","data_length":${MAX_DATA_BYTES + 1}}\n`],
    ["a payload that would be too long", "too_large", `{"type":"x","payload_length":${MAX_PAYLOAD_BYTES + 1}}\n`],
  ])("refuses %s as %s", (_, code, bytes) => {
    expect(errorOf(bytes)).toBe(code);
  });

  test("takes the longest header and data", () => {
    const header = '{"type":"x","data_length":262144,"data":{"a":""}}';
    const padded = header.replace('""', `"${"x".repeat(MAX_HEADER_BYTES - header.length)}"`);
    const separate = `{"b":"${"y".repeat(MAX_DATA_BYTES - 8)}"}`;
    expect(errorOf(`${padded}\n${separate}`)).toBeNull();
  });
});

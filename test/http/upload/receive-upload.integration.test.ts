import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import {
  BOUNDARY,
  connectTo,
  form,
  MULTIPART,
  part,
  post,
  type Reception,
  sendRaw,
  startReceiving,
} from "./support.ts";

setDefaultTimeout(60_000);

const SOUND = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7919) % 256));
const FILE = part('name="file"; filename="call.wav"', SOUND);
const LANGUAGE = part('name="language"', "de");
const URL_PART = part('name="url"', "https://example.org/a.mp3");

function outcome({ result }: Reception): unknown {
  return result.ok ? "received" : result.failure;
}

describe("a well-formed upload", () => {
  test("arrives byte for byte, with its size, digest and name, and is gone when disposed of", async () => {
    await using server = await startReceiving();
    const { result, bytes } = await post(server, form(FILE, LANGUAGE));
    if (!result.ok) throw new Error(result.failure.kind);
    expect(bytes?.equals(SOUND)).toBe(true);
    expect(result.fields).toEqual({ language: "de" });
    expect(result.file).toMatchObject({
      sizeBytes: SOUND.length,
      sha256: createHash("sha256").update(SOUND).digest("hex"),
      name: "call.wav",
    });
    expect(await server.filesLeft()).toEqual([]);
  });

  test("made by the runtime's FormData arrives", async () => {
    await using server = await startReceiving();
    const data = new FormData();
    data.set("language", "fr");
    data.set("file", new File([SOUND], "Gespräch №1.mp3"));
    const { result, bytes } = await post(server, data, {});
    expect(result).toMatchObject({ ok: true, fields: { language: "fr" }, file: { name: "Gespräch №1.mp3" } });
    expect(bytes?.equals(SOUND)).toBe(true);
  });

  test("arrives however the network fragments it", async () => {
    await using server = await startReceiving();
    const tricky = Buffer.concat([
      SOUND.subarray(0, 300),
      Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n--`),
      SOUND.subarray(0, 99),
    ]);
    const whole = form(part('name="file"; filename="x"', tricky), LANGUAGE);
    for (const size of [1, 7, 64]) {
      const pieces = (async function* () {
        for (let at = 0; at < whole.length; at += size) {
          yield whole.subarray(at, at + size);
          if (at % 50 === 0) await Bun.sleep(0);
        }
      })();
      const { result, bytes } = await post(server, pieces);
      expect(result).toMatchObject({ ok: true, fields: { language: "de" } });
      expect(bytes?.equals(tricky)).toBe(true);
    }
  });

  test("without a file or with an empty file is reported as such", async () => {
    await using server = await startReceiving();
    const withUrl = await post(server, form(URL_PART));
    expect(withUrl.result).toMatchObject({ ok: true, fields: { url: "https://example.org/a.mp3" }, file: null });
    expect((await post(server, form(part('name="file"; filename="x"', "")))).result).toMatchObject({
      ok: true,
      file: { sizeBytes: 0 },
    });
    expect((await post(server, form())).result).toMatchObject({ ok: true, file: null, fields: {} });
    expect(await server.filesLeft()).toEqual([]);
  });

  test("may have a file part with a text type or without a file name", async () => {
    await using server = await startReceiving();
    const { result, bytes } = await post(server, form(part('name="file"', SOUND)));
    expect(result).toMatchObject({ ok: true, file: { name: "recording" } });
    expect(bytes?.equals(SOUND)).toBe(true);
  });

  test("may contain unknown parts, which are ignored, and text around the form", async () => {
    await using server = await startReceiving();
    const other = part('name="other"; filename="big.bin"', Buffer.alloc(200_000));
    const nameless = part('filename="x"', "no name");
    const body = Buffer.concat([
      Buffer.from("preamble\r\n"),
      form(other, other, nameless, FILE, LANGUAGE),
      Buffer.from("epilogue"),
    ]);
    const { result, bytes } = await post(server, body);
    expect(result).toMatchObject({ ok: true, fields: { language: "de" } });
    expect(bytes?.equals(SOUND)).toBe(true);
    expect(await server.filesLeft()).toEqual([]);
  });

  test("has its text parts truncated at 8 KiB", async () => {
    await using server = await startReceiving();
    const { result } = await post(server, form(part('name="url"', "x".repeat(100_000)), FILE));
    expect(result.ok && result.fields.url?.length).toBe(8192);
    expect(result.ok && result.file?.sizeBytes).toBe(SOUND.length);
  });
});

describe("a refused upload reports the reason and leaves nothing on disk:", () => {
  const md5 = "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:";
  const sha256 = (body: Uint8Array) => createHash("sha256").update(body).digest("base64");
  const sha512 = (body: Uint8Array) => createHash("sha512").update(body).digest("base64");
  const whole = form(FILE, LANGUAGE);
  const type = (value: string) => ({ "content-type": value });
  const digest = (value: string) => ({ "content-digest": value });
  const right = `sha-256=:${sha256(whole)}:`;
  const wrong = `sha-256=:${sha256(SOUND)}:`;
  const twice = (part: string) => ({ kind: "duplicate_part", part });
  const empty = part('name="file"', "");
  type Case = [what: string, expected: string | object, body: Uint8Array, headers?: Record<string, string>];
  const cases: Case[] = [
    ["JSON", "not_multipart", Buffer.from("{}"), type("application/json")],
    ["no Content-Type", "not_multipart", whole, type("")],
    ["no boundary", "not_multipart", whole, type("multipart/form-data")],
    ["a boundary of forbidden characters", "not_multipart", whole, type('multipart/form-data; boundary="a<b"')],
    ["another multipart type", "not_multipart", whole, type(`multipart/form-data-x; boundary=${BOUNDARY}`)],
    ["an empty body", "not_multipart", Buffer.alloc(0)],
    ["a body of something else", "not_multipart", SOUND],
    ["the wrong boundary", "not_multipart", whole, type("multipart/form-data; boundary=other")],
    ["a form cut in its first head", "malformed", whole.subarray(0, BOUNDARY.length + 20)],
    ["a form cut in its file", "malformed", whole.subarray(0, 30_000)],
    ["a form cut between its parts", "malformed", FILE],
    ["a form cut in its closing boundary", "malformed", whole.subarray(0, whole.length - 4)],
    ["a form cut in a text part", "malformed", whole.subarray(0, FILE.length + LANGUAGE.length - 3)],
    [
      "a thousand parts",
      { kind: "too_many_parts", most: 256 },
      form(...Array.from({ length: 1000 }, () => part('name="x"', "y")), FILE),
    ],
    ["two files", twice("file"), form(FILE, FILE)],
    ["two files of no length", twice("file"), form(empty, empty)],
    ["two links", twice("url"), form(URL_PART, FILE, URL_PART)],
    ["two languages", twice("language"), form(LANGUAGE, LANGUAGE, FILE)],
    ["a file of one byte too many", "file_too_large", form(part('name="file"', Buffer.alloc(1_000_001)))],
    ["a body over its limit", "body_too_large", form(part('name="x"', Buffer.alloc(2_000_001)))],
    ["a wrong SHA-256", "digest_mismatch", whole, digest(wrong)],
    ["one right digest and one wrong", "digest_mismatch", whole, digest(`${right}, sha-512=:${sha256(whole)}:`)],
    ["a digest that can't be read", "digest_mismatch", whole, digest(sha256(whole))],
    ["the right digests", "received", whole, digest(`${md5}, ${right}`)],
    [
      "the right digest after a wrong one of the same algorithm: the last one counts",
      "received",
      whole,
      digest(`${wrong}, ${md5}, ${right}`),
    ],
    [
      "a wrong digest after the right one of the same algorithm",
      "digest_mismatch",
      whole,
      digest(`${right}, ${wrong}`),
    ],
    [
      "as many digests as may come, the last one right",
      "received",
      whole,
      digest(`${"sha-512=::,".repeat(14)}sha-512=:${sha512(whole)}:, ${right}`),
    ],
    [
      "a digest more, though the one that counts is right",
      "digest_mismatch",
      whole,
      digest(`${"md5=::,".repeat(16)}${right}`),
    ],
    [
      "950 digests, though the one that counts is right",
      "digest_mismatch",
      whole,
      digest(`${"md5=::,".repeat(949)}${right}`),
    ],
    [
      "a digest header that is too long, though it holds the right one",
      "digest_mismatch",
      whole,
      digest(`x=:${"A".repeat(2000)}:, ${right}`),
    ],
    ["a file of the longest length", "received", form(part('name="file"', Buffer.alloc(1_000_000)))],
  ];
  test.each(cases)("%s", async (_, expected, body, headers = {}) => {
    await using server = await startReceiving();
    const sent = { "content-type": MULTIPART, ...headers };
    const isExpected = (reception: Reception) =>
      expect(outcome(reception)).toEqual(
        expected === "received" || typeof expected === "object" ? expected : { kind: expected },
      );
    isExpected(await post(server, new Uint8Array(body), sent));
    expect(await server.filesLeft()).toEqual([]);
    // In a chunked body the length is unknown in advance.
    if (body.length > 0) isExpected(await post(server, new Blob([new Uint8Array(body)]).stream(), sent));
    expect(await server.filesLeft()).toEqual([]);
  });

  test("a form whose file begins after its fault and continues in a later chunk", async () => {
    await using server = await startReceiving();
    const body = form(LANGUAGE, LANGUAGE, FILE);
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${body.length}\r\n\r\n`;
    await using sender = await connectTo(server);
    await sender.write(Buffer.concat([Buffer.from(head), body.subarray(0, 40_000)]));
    await Bun.sleep(100);
    await sender.write(body.subarray(40_000));
    expect(outcome(await server.next())).toEqual({ kind: "duplicate_part", part: "language" });
    expect(await server.filesLeft()).toEqual([]);
  });

  test("a Content-Length over the limit, before a byte of the body is sent", async () => {
    await using server = await startReceiving();
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART}\r\nContent-Length: 2000001\r\n\r\n`;
    const sending = sendRaw(server, Buffer.from(head), "end");
    expect(outcome(await server.next())).toEqual({ kind: "body_too_large" });
    await sending;
  });

  test("a full disk", async () => {
    await using server = await startReceiving();
    // A full disk can't be made on demand. A write beyond a child process's limit on file size is the closest.
    const limited = ["sh", "-c", `ulimit -f 64; exec "$@"`, "sh"];
    const child = Bun.spawn([...limited, process.execPath, `${import.meta.dir}/upload-server.ts`, server.directory], {
      stdout: "pipe",
      stderr: "ignore",
      stdin: "ignore",
    });
    try {
      const port = Number(await firstLine(child.stdout));
      const body = form(part('name="file"', Buffer.alloc(900_000)));
      const headers = { "content-type": MULTIPART };
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, headers });
      expect(await answer.json()).toEqual({ ok: false, failure: { kind: "disk_full" } });
      expect(await readdir(server.directory)).toEqual([]);
    } finally {
      child.kill("SIGKILL");
      await child.exited;
    }
  });
});

describe("a client that disconnects in the middle leaves nothing behind", () => {
  const begun = form(FILE).subarray(0, 40_000);
  const chunk = Buffer.concat([Buffer.from(`${begun.length.toString(16)}\r\n`), begun, Buffer.from("\r\n")]);
  const known = `Content-Length: ${form(FILE).length}`;
  for (const ending of ["end", "reset"] as const) {
    for (const [framing, bytes] of [
      [known, begun],
      ["Transfer-Encoding: chunked", chunk],
      ["Transfer-Encoding: chunked", Buffer.concat([chunk, Buffer.from("not a chunk\r\n")])],
    ] as const) {
      test(`${framing}, ${bytes.length} bytes, ${ending}`, async () => {
        await using server = await startReceiving();
        const head = Buffer.from(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART}\r\n${framing}\r\n\r\n`);
        await sendRaw(server, Buffer.concat([head, bytes]), ending);
        expect(outcome(await server.next())).toEqual({ kind: "aborted" });
        expect(await server.filesLeft()).toEqual([]);
      });
    }
  }
});

describe("a sender that is too slow", () => {
  // All senders here are far slower than this and never finish, so only the limits end them.
  const pace = { graceSeconds: 2, bytesPerSecond: 1 << 20, silenceSeconds: 2 };
  const body = form(FILE);
  const framings = {
    "with a Content-Length": { header: `Content-Length: ${body.length}`, frame: (bytes: Uint8Array) => bytes },
    "in chunks": {
      header: "Transfer-Encoding: chunked",
      frame: (bytes: Uint8Array) =>
        Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]),
    },
  };

  for (const [how, { header, frame }] of Object.entries(framings)) {
    const head = Buffer.from(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${MULTIPART}\r\n${header}\r\n\r\n`);

    test.concurrent(`is ended when it falls silent, ${how}`, async () => {
      await using server = await startReceiving({ pace });
      await using silent = await connectTo(server);
      await silent.write(Buffer.concat([head, frame(body.subarray(0, 40_000))]));
      expect(outcome(await server.next())).toEqual({ kind: "too_slow" });
      expect(await server.filesLeft()).toEqual([]);
    });

    test.concurrent(`is ended at its total deadline when it drips, ${how}`, async () => {
      await using server = await startReceiving({ pace: { ...pace, silenceSeconds: 600 } });
      await using dripping = await connectTo(server);
      await dripping.write(head);
      const ended = server.next();
      let isEnded = false;
      void ended.then(() => {
        isEnded = true;
      });
      for (let at = 0; !isEnded; at++) {
        await dripping.write(frame(body.subarray(at, at + 1)));
        await Bun.sleep(10);
      }
      expect(outcome(await ended)).toEqual({ kind: "too_slow" });
      expect(await server.filesLeft()).toEqual([]);
    });

    test.concurrent(`is ended while the rest of a refused body is read and thrown away, ${how}`, async () => {
      await using server = await startReceiving({ pace });
      await using silent = await connectTo(server);
      await silent.write(Buffer.concat([head, frame(form(LANGUAGE, LANGUAGE).subarray(0, -20))]));
      expect(outcome(await server.next())).toEqual({ kind: "too_slow" });
      expect(await server.filesLeft()).toEqual([]);
    });
  }
});

describe("whatever bytes arrive, the reception ends and stores at most one complete file", () => {
  test("five hundred damaged forms", async () => {
    await using server = await startReceiving();
    const whole = form(
      FILE.subarray(0, 600),
      Buffer.from("\r\n"),
      URL_PART,
      LANGUAGE,
      part('name="o"; filename="p"', "q"),
    );
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const pieces = [
      ...["\r\n", "--", `--${BOUNDARY}`, `--${BOUNDARY}--`, "Content-Disposition: form-data", '"', "\0"],
      "Content-Type: text/plain; charset=x\r\n",
    ];
    for (let round = 0; round < 500; round++) {
      const at = random(whole.length);
      const cut = random(2) === 0 ? 0 : random(60);
      const inserted = Buffer.from(pieces[random(pieces.length)] ?? "");
      const body = Buffer.concat([whole.subarray(0, at), inserted, whole.subarray(at + cut)]);
      const reception = await post(server, body);
      expect(["received", "malformed", "not_multipart", "duplicate_part"]).toContain(
        reception.result.ok ? "received" : reception.result.failure.kind,
      );
    }
    expect(await server.filesLeft()).toEqual([]);
  });
});

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return new TextDecoder().decode(value).trim();
}

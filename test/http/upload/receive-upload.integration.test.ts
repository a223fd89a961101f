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
  const cases: { what: string; body: Uint8Array; headers?: Record<string, string>; expected: unknown }[] = [
    {
      what: "JSON",
      body: Buffer.from("{}"),
      headers: { "content-type": "application/json" },
      expected: { kind: "not_multipart" },
    },
    { what: "no Content-Type", body: whole, headers: { "content-type": "" }, expected: { kind: "not_multipart" } },
    {
      what: "no boundary",
      body: whole,
      headers: { "content-type": "multipart/form-data" },
      expected: { kind: "not_multipart" },
    },
    {
      what: "a boundary of forbidden characters",
      body: whole,
      headers: { "content-type": 'multipart/form-data; boundary="a<b"' },
      expected: { kind: "not_multipart" },
    },
    {
      what: "another multipart type",
      body: whole,
      headers: { "content-type": `multipart/form-data-x; boundary=${BOUNDARY}` },
      expected: { kind: "not_multipart" },
    },
    { what: "an empty body", body: Buffer.alloc(0), expected: { kind: "not_multipart" } },
    { what: "a body of something else", body: SOUND, expected: { kind: "not_multipart" } },
    {
      what: "the wrong boundary",
      body: whole,
      headers: { "content-type": "multipart/form-data; boundary=other" },
      expected: { kind: "not_multipart" },
    },
    {
      what: "a form cut in its first head",
      body: whole.subarray(0, BOUNDARY.length + 20),
      expected: { kind: "malformed" },
    },
    { what: "a form cut in its file", body: whole.subarray(0, 30_000), expected: { kind: "malformed" } },
    { what: "a form cut between its parts", body: FILE, expected: { kind: "malformed" } },
    {
      what: "a form cut in its closing boundary",
      body: whole.subarray(0, whole.length - 4),
      expected: { kind: "malformed" },
    },
    {
      what: "a form cut in a text part",
      body: whole.subarray(0, FILE.length + LANGUAGE.length - 3),
      expected: { kind: "malformed" },
    },
    {
      what: "a thousand parts",
      body: form(...Array.from({ length: 1000 }, () => part('name="x"', "y")), FILE),
      expected: { kind: "too_many_parts", most: 256 },
    },
    { what: "two files", body: form(FILE, FILE), expected: { kind: "duplicate_part", part: "file" } },
    {
      what: "two files of no length",
      body: form(part('name="file"', ""), part('name="file"', "")),
      expected: { kind: "duplicate_part", part: "file" },
    },
    { what: "two links", body: form(URL_PART, FILE, URL_PART), expected: { kind: "duplicate_part", part: "url" } },
    {
      what: "two languages",
      body: form(LANGUAGE, LANGUAGE, FILE),
      expected: { kind: "duplicate_part", part: "language" },
    },
    {
      what: "a file of one byte too many",
      body: form(part('name="file"', Buffer.alloc(1_000_001))),
      expected: { kind: "file_too_large" },
    },
    {
      what: "a body over its limit",
      body: form(part('name="x"', Buffer.alloc(2_000_001))),
      expected: { kind: "body_too_large" },
    },
    {
      what: "a wrong SHA-256",
      body: whole,
      headers: { "content-digest": `sha-256=:${sha256(SOUND)}:` },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "one right digest and one wrong",
      body: whole,
      headers: { "content-digest": `sha-256=:${sha256(whole)}:, sha-512=:${sha256(whole)}:` },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "a digest that can't be read",
      body: whole,
      headers: { "content-digest": sha256(whole) },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "the right digests",
      body: whole,
      headers: { "content-digest": `${md5}, sha-256=:${sha256(whole)}:` },
      expected: "received",
    },
    {
      what: "the right digest after a wrong one of the same algorithm: the last one counts",
      body: whole,
      headers: { "content-digest": `sha-256=:${sha256(SOUND)}:, ${md5}, sha-256=:${sha256(whole)}:` },
      expected: "received",
    },
    {
      what: "a wrong digest after the right one of the same algorithm",
      body: whole,
      headers: { "content-digest": `sha-256=:${sha256(whole)}:, sha-256=:${sha256(SOUND)}:` },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "as many digests as may come, the last one right",
      body: whole,
      headers: {
        "content-digest": `${"sha-512=::,".repeat(14)}sha-512=:${sha512(whole)}:, sha-256=:${sha256(whole)}:`,
      },
      expected: "received",
    },
    {
      what: "a digest more, though the one that counts is right",
      body: whole,
      headers: { "content-digest": `${"md5=::,".repeat(16)}sha-256=:${sha256(whole)}:` },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "950 digests, though the one that counts is right",
      body: whole,
      headers: { "content-digest": `${"md5=::,".repeat(949)}sha-256=:${sha256(whole)}:` },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "a digest header that is too long, though it holds the right one",
      body: whole,
      headers: { "content-digest": `x=:${"A".repeat(2000)}:, sha-256=:${sha256(whole)}:` },
      expected: { kind: "digest_mismatch" },
    },
    {
      what: "a file of the longest length",
      body: form(part('name="file"', Buffer.alloc(1_000_000))),
      expected: "received",
    },
  ];
  for (const { what, body, headers, expected } of cases) {
    test(what, async () => {
      await using server = await startReceiving();
      const sent = { "content-type": MULTIPART, ...headers };
      expect(outcome(await post(server, new Uint8Array(body), sent))).toEqual(expected);
      expect(await server.filesLeft()).toEqual([]);
      // In a chunked body the length is unknown in advance.
      const chunked = new Blob([new Uint8Array(body)]).stream();
      if (body.length > 0) expect(outcome(await post(server, chunked, sent))).toEqual(expected);
      expect(await server.filesLeft()).toEqual([]);
    });
  }

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
    const child = Bun.spawn(
      [
        "sh",
        "-c",
        `ulimit -f 64; exec "$@"`,
        "sh",
        process.execPath,
        `${import.meta.dir}/upload-server.ts`,
        server.directory,
      ],
      { stdout: "pipe", stderr: "ignore", stdin: "ignore" },
    );
    try {
      const port = Number(await firstLine(child.stdout));
      const body = form(part('name="file"', Buffer.alloc(900_000)));
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        body,
        headers: { "content-type": MULTIPART },
      });
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
      "\r\n",
      "--",
      `--${BOUNDARY}`,
      `--${BOUNDARY}--`,
      "Content-Disposition: form-data",
      '"',
      "\0",
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

import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { answer, type Behaviour, fetching, fetchingFrom, redirect, SOUND, sound, startHost } from "./support.ts";

const sends =
  (...pieces: (Buffer | string)[]): Behaviour =>
  (socket) => {
    for (const piece of pieces) socket.write(piece);
  };
/** Sends and closes cleanly with FIN, so that only the announced length reveals missing bytes. */
const sendsAndEnds =
  (...pieces: (Buffer | string)[]): Behaviour =>
  (socket) =>
    socket.end(Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))));

const header = (...lines: string[]) => `${["HTTP/1.1 200 OK", ...lines].join("\r\n")}\r\n\r\n`;

describe("a fetched recording", () => {
  test("is stored byte for byte, as the only file", async () => {
    const outcome = await fetchingFrom(sound);
    expect(outcome).toMatchObject({ fault: null, files: ["recording"] });
    expect(outcome.content?.equals(SOUND)).toBe(true);
  });

  test("may be sent in chunks or up to the connection's end", async () => {
    const half = SOUND.length / 2;
    const chunks = [SOUND.subarray(0, half), SOUND.subarray(half)].flatMap((part) => [
      `${part.length.toString(16)}\r\n`,
      part,
      "\r\n",
    ]);
    const chunked = await fetchingFrom(sends(header("Transfer-Encoding: chunked"), ...chunks, "0\r\n\r\n"));
    expect(chunked.content?.equals(SOUND)).toBe(true);
    const untilEnd = await fetchingFrom(sendsAndEnds(header(), SOUND));
    expect(untilEnd.content?.equals(SOUND)).toBe(true);
  });

  test("is requested with only the necessary headers", async () => {
    await using host = await startHost({ "/a.mp3?key=1": sound });
    await host.fetching("/a.mp3?key=1#part");
    const [head = ""] = host.requests;
    expect(head.split("\r\n")[0]).toBe("GET /a.mp3?key=1 HTTP/1.1");
    const names = [...head.matchAll(/^([\w-]+):/gm)].map((match) => match[1]?.toLowerCase());
    expect(names.sort()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
    expect(head).toMatch(/^accept-encoding: identity\r$/im);
    expect(head).toContain(`recordings.test:${host.port}\r\n`);
  });

  test("may follow informational responses", async () => {
    const outcome = await fetchingFrom(
      sends("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", answer("200 OK", SOUND)),
    );
    expect(outcome.fault).toBeNull();
  });

  test("may be exactly as large as permitted, and not a byte larger", async () => {
    expect(await fetchingFrom(sound, { maxBytes: SOUND.length })).toMatchObject({ fault: null });
    for (const behaviour of [sound, sendsAndEnds(header(), SOUND)]) {
      const outcome = await fetchingFrom(behaviour, { maxBytes: SOUND.length - 1 });
      expect(outcome).toMatchObject({ fault: "fetch_too_large", files: [] });
    }
  });
});

const gzipBomb = gzipSync(Buffer.alloc(32 << 20));

describe("a response that is no recording gives its fault and leaves no file", () => {
  const cases: [name: string, fault: string, behaviour: Behaviour][] = [
    ["404", "fetch_http_status", sends(answer("404 Not Found", "no"))],
    ["500", "fetch_http_status", sends(answer("500 Oops", SOUND))],
    ["204", "fetch_http_status", sends("HTTP/1.1 204 No Content\r\n\r\n")],
    ["an unrequested part", "fetch_http_status", sends(answer("206 Partial Content", SOUND))],
    ["not modified", "fetch_http_status", sends("HTTP/1.1 304 Not Modified\r\n\r\n")],
    ["a redirect without a location", "fetch_http_status", sends(answer("302 Found"))],
    ["an empty body", "fetch_empty", sends(answer("200 OK"))],
    ["an empty body up to the end", "fetch_empty", sendsAndEnds(header())],
    ["a truncated body", "fetch_interrupted", sendsAndEnds(header(`Content-Length: ${SOUND.length + 1}`), SOUND)],
    ["truncated chunks", "fetch_interrupted", sendsAndEnds(header("Transfer-Encoding: chunked"), "5\r\nhello\r\n")],
    [
      "a reset in the body",
      "fetch_interrupted",
      (socket) => {
        socket.write(header("Content-Length: 900000"));
        socket.write(SOUND, () => setTimeout(() => socket.resetAndDestroy(), 50));
      },
    ],
    ["a closed connection without a response", "fetch_interrupted", (socket) => socket.end()],
    ["a size over the limit, announced", "fetch_too_large", sends(header("Content-Length: 9999999999"))],
    [
      "an endless body",
      "fetch_too_large",
      (socket) => {
        socket.write(header());
        const more = () => {
          while (socket.writable && socket.write(SOUND));
          if (socket.writable) socket.once("drain", more);
        };
        more();
      },
    ],
    ["a gzip bomb", "fetch_encoding", sends(answer("200 OK", gzipBomb, "Content-Encoding: gzip"))],
    ["a coding after another one", "fetch_encoding", sends(answer("200 OK", SOUND, "Content-Encoding: identity, br"))],
    [
      "a compressed transfer",
      "fetch_encoding",
      sends(header("Transfer-Encoding: gzip, chunked"), "5\r\nhello\r\n0\r\n\r\n"),
    ],
    ["a playlist by its type", "fetch_playlist", sends(answer("200 OK", SOUND, "Content-Type: Audio/X-MpegURL; a=b"))],
    ["a playlist by its first bytes", "fetch_playlist", sends(answer("200 OK", "\ufeff#EXTM3U\n/a.mp3\n"))],
    ["a pls list", "fetch_playlist", sends(answer("200 OK", "[playlist]\nFile1=/a.mp3\n"))],
    [
      "an xspf list",
      "fetch_playlist",
      sends(answer("200 OK", '<?xml version="1.0"?>\n<!-- x -->\n<playlist version="1">')),
    ],
    ["an asx list", "fetch_playlist", sends(answer("200 OK", '<ASX version="3.0">'))],
    ["a playlist byte by byte", "fetch_playlist", dripping("#EXTM3U\n/a.mp3\n")],
    ["a web page", "fetch_web_page", sends(answer("200 OK", "\n<!-- hi --><!DOCTYPE html><p>Sign in"))],
    ["a web page of another kind", "fetch_web_page", sends(answer("200 OK", '<?xml version="1.0"?><Error/>'))],
    ["another protocol", "fetch_bad_answer", sends("SSH-2.0-OpenSSH_9.2\r\n")],
    [
      "a switch of protocols",
      "fetch_bad_answer",
      sends("HTTP/1.1 101 X\r\nUpgrade: ws\r\nConnection: upgrade\r\n\r\n"),
    ],
    ["a huge header", "fetch_bad_answer", sends(header(`X-Long: ${"x".repeat(5 << 20)}`))],
    [
      "a header of many lines",
      "fetch_bad_answer",
      sends(header(...Array.from({ length: 9_000 }, (_, n) => `X${n}: y`))),
    ],
    ["two lengths", "fetch_bad_answer", sends(header("Content-Length: 5", "Content-Length: 6"), "hello!")],
    ["a broken chunk", "fetch_bad_answer", sends(header("Transfer-Encoding: chunked"), "5\r\nhello\r\n", "ZZ\r\n")],
  ];
  test.each(cases)("%s", async (_, fault, behaviour) => {
    const outcome = await fetchingFrom(behaviour);
    expect(outcome).toMatchObject({ fault, files: [] });
    expect(outcome.message).not.toContain("a.mp3");
  });

  test("a closed port and an unknown name", async () => {
    // Nothing listens on port 9. A port that was free a moment ago may be another process's.
    const url = "http://recordings.test:9/a.mp3";
    expect(await fetching(url)).toMatchObject({ fault: "fetch_connect_failed", files: [] });
    expect(await fetching("http://127.0.0.1:9/")).toMatchObject({ fault: "fetch_connect_failed", files: [] });
    const unknown = () => Promise.reject(new Error("ENOTFOUND"));
    expect(await fetching(url, { resolve: unknown })).toMatchObject({ fault: "fetch_dns_failed", files: [] });
    expect(await fetching(url, { resolve: async () => [] })).toMatchObject({ fault: "fetch_dns_failed", files: [] });
  });
});

/** Sends a body byte by byte, every 5 ms. */
function dripping(body: string): Behaviour {
  return (socket) => {
    socket.setNoDelay(true);
    socket.write(header(`Content-Length: ${body.length}`));
    const bytes = Buffer.from(body);
    let at = 0;
    const timer = setInterval(() => {
      if (at < bytes.length) socket.write(bytes.subarray(at, ++at));
      else clearInterval(timer);
    }, 5);
    socket.on("close", () => clearInterval(timer));
  };
}

describe("redirects", () => {
  /** A host that redirects `/0` to `/1` and so on, up to the recording. */
  const chain = (length: number): Record<string, Behaviour> => ({
    ...Object.fromEntries(Array.from({ length }, (_, n) => [`/${n}`, sends(redirect(`/${n + 1}`))])),
    [`/${length}`]: sound,
  });

  test("are followed five times, but not six", async () => {
    await using five = await startHost(chain(5));
    expect(await five.fetching("/0")).toMatchObject({ fault: null });
    expect(five.connections()).toBe(6);
    await using six = await startHost(chain(6));
    const outcome = await six.fetching("/0");
    expect(outcome).toMatchObject({ fault: "fetch_redirects", files: [] });
    expect(six.connections()).toBe(6);
  });

  test("in a circle are not followed forever", async () => {
    await using host = await startHost({ "/a": sends(redirect("/b")), "/b": sends(redirect("/a")) });
    expect(await host.fetching("/a")).toMatchObject({ fault: "fetch_redirects", files: [] });
  });

  test.each([
    ["301 Moved", true],
    ["303 See Other", true],
    ["307 Temporary", true],
    ["308 Permanent", true],
    ["300 Choices", false],
    ["305 Use Proxy", false],
    ["201 Created", false],
  ])("are followed for statuses that redirect a GET: %s: %p", async (status, followed) => {
    await using host = await startHost({ "/a": sends(answer(status, "", "Location: /b")), "/b": sound });
    const { fault } = await host.fetching("/a");
    expect(fault).toBe(followed ? null : "fetch_http_status");
  });

  test("carry no data from one host to the next", async () => {
    await using second = await startHost({ "/b": sound });
    const cookie = "Set-Cookie: session=1; Domain=.test";
    await using first = await startHost({
      "/a?token=geheim": sends(answer("302 Found", "", cookie, `Location: http://second.test:${second.port}/b`)),
    });
    const outcome = await fetching(`http://first.test:${first.port}/a?token=geheim`);
    expect(outcome).toMatchObject({ fault: null });
    expect(second.requests[0]).toContain(`second.test:${second.port}\r\n`);
    expect(second.requests[0]).not.toMatch(/cookie|referer|authorization|geheim|first\.test/i);
  });

  test("may be relative, and contain plain UTF-8", async () => {
    const location = Buffer.from("../hör/ß.mp3").toString("latin1");
    await using host = await startHost({ "/a/b": sends(redirect(location)), "/h%C3%B6r/%C3%9F.mp3": sound });
    expect(await host.fetching("/a/b")).toMatchObject({ fault: null });
  });

  test.each([
    ["ftp://recordings.test/a.mp3", "fetch_bad_url"],
    ["file:///etc/passwd", "fetch_bad_url"],
    ["http://user:pass@recordings.test/", "fetch_bad_url"],
    ["http://256.1.1.1/", "fetch_bad_url"],
    ["/list.m3u8", "fetch_playlist"],
    ["http://10.0.0.1:9/a.mp3", "fetch_blocked_address"],
    ["http://169.254.169.254/latest/meta-data/", "fetch_blocked_address"],
    ["http://[::ffff:7f00:2]:9/", "fetch_blocked_address"],
    ["http://0x7f.2:9/", "fetch_blocked_address"],
    ["//2130706434/", "fetch_blocked_address"],
  ])("are checked like the first link: %s", async (location, fault) => {
    await using host = await startHost({ "/a": sends(redirect(location)) });
    expect(await host.fetching("/a")).toMatchObject({ fault, files: [] });
    expect(host.connections()).toBe(1);
  });
});

describe("the connected address", () => {
  test("is never a forbidden one, even after a redirect", async () => {
    await using trap = await startHost({ "/": sound }, { address: "127.0.0.2" });
    await using host = await startHost({ "/a": sends(redirect(`http://127.0.0.2:${trap.port}/`)) });
    const outcome = await host.fetching("/a");
    expect(outcome).toMatchObject({ fault: "fetch_blocked_address", files: [] });
    expect(outcome.message).toContain("127.0.0.2");
    expect(trap.connections()).toBe(0);
  });

  test("is the checked one, whatever the name server answers later", async () => {
    await using host = await startHost({ "/a": sends(redirect("/b")), "/b": sound });
    const asked: string[] = [];
    const rebinding = async (name: string) => [asked.push(name) === 1 ? "127.0.0.1" : "127.0.0.2"];
    const direct = await fetching(`http://rebinding.test:${host.port}/b`, { resolve: rebinding });
    expect(direct.fault).toBeNull();
    expect(asked).toEqual(["rebinding.test"]);

    // A redirect is resolved and checked again; no connection is reused that would bypass the check.
    asked.length = 0;
    await using trap = await startHost({ "/b": sound }, { address: "127.0.0.2" });
    await using first = await startHost({ "/a": sends(redirect(`http://rebinding.test:${trap.port}/b`)) });
    const outcome = await fetching(`http://rebinding.test:${first.port}/a`, { resolve: rebinding });
    expect(outcome).toMatchObject({ fault: "fetch_blocked_address", files: [] });
    expect(asked).toEqual(["rebinding.test", "rebinding.test"]);
    expect(trap.connections()).toBe(0);
  });

  test("is another one of the host if the first does not answer", async () => {
    await using host = await startHost({ "/a": sound });
    const outcome = await host.fetching("/a", {
      allow: ["127.0.0.0/8"],
      resolve: async () => ["127.0.0.3", "127.0.0.1"],
    });
    expect(outcome.fault).toBeNull();
  });

  test("comes from the system's name resolution by default", async () => {
    await using host = await startHost({ "/a": sound });
    const url = `http://localhost:${host.port}/a`;
    expect(await fetching(url, { resolve: undefined, allow: ["localhost"] })).toMatchObject({ fault: null });
    expect(await fetching(url, { resolve: undefined, allow: [] })).toMatchObject({ fault: "fetch_blocked_address" });
    expect(host.connections()).toBe(1);
  });

  test("is never a proxy's, whatever the environment contains", async () => {
    await using host = await startHost({ "/a": sound });
    await using proxy = await startHost({});
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const child = Bun.spawn([process.execPath, `${import.meta.dir}/fetch-child.ts`, `http://x.test:${host.port}/a`], {
      env: { ...process.env, NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxyUrl, http_proxy: proxyUrl, ALL_PROXY: proxyUrl },
      stdout: "pipe",
    });
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ fault: null });
    expect([host.connections(), proxy.connections()]).toEqual([1, 0]);
  });
});

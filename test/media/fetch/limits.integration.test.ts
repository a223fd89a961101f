import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { MediaError } from "../../../src/media/index.ts";
import {
  answer,
  type Behaviour,
  type Fetching,
  fetching,
  fetchingFrom,
  fetchTo,
  onWritten,
  SOUND,
  sound,
  startHost,
} from "./support.ts";

setDefaultTimeout(60_000);

const HEADER = "HTTP/1.1 200 OK\r\n\r\n";
const silent: Behaviour = () => {};
const stallsInBody: Behaviour = (socket) => {
  socket.write(HEADER);
  socket.write(SOUND);
};
/** Sends a chunk every 10 ms until the connection closes. */
const repeats =
  (first: string, piece: string | Buffer): Behaviour =>
  (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(piece), 10);
    socket.on("close", () => clearInterval(timer));
  };

describe("a host that stalls is abandoned and leaves no file", () => {
  const cases: [name: string, fault: string, behaviour: Behaviour, options: Fetching][] = [
    ["by sending no headers", "fetch_too_slow", silent, { stallSeconds: 0.2 }],
    ["by sending endless headers", "fetch_too_slow", repeats("HTTP/1.1 200 OK\r\n", "X: y\r\n"), { stallSeconds: 0.2 }],
    [
      "by sending only informational responses",
      "fetch_too_slow",
      repeats("", "HTTP/1.1 102 Processing\r\n\r\n"),
      { stallSeconds: 0.2 },
    ],
    ["in the body", "fetch_too_slow", stallsInBody, { stallSeconds: 0.2 }],
    ["by sending the body byte by byte", "fetch_too_slow", repeats(HEADER, "x"), { stallSeconds: 0.3 }],
    ["by sending an endless slow body", "fetch_timed_out", repeats(HEADER, Buffer.alloc(2_000)), { maxSeconds: 0.5 }],
    ["beyond the total time", "fetch_timed_out", silent, { maxSeconds: 0.2 }],
    ["because its name server never answers", "fetch_dns_failed", silent, { stallSeconds: 0.2, resolve: never }],
  ];
  test.each(cases)("%s", async (_, fault, behaviour, options) => {
    expect(await fetchingFrom(behaviour, options)).toMatchObject({ fault, files: [] });
  });

  test("a host that accepts the connection but sends no TLS", async () => {
    await using host = await startHost({ "*": silent });
    const outcome = await fetching(`https://recordings.test:${host.port}/a`, { stallSeconds: 0.2 });
    expect(outcome).toMatchObject({ fault: "fetch_tls_failed", files: [] });
  });

  test("a steady body may take longer than the stall time", async () => {
    const flows: Behaviour = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${30 * 17_000}\r\n\r\n`);
      let left = 30;
      const timer = setInterval(() => {
        socket.write(Buffer.alloc(17_000, 1));
        if (--left === 0) clearInterval(timer);
      }, 50);
      socket.on("close", () => clearInterval(timer));
    };
    expect(await fetchingFrom(flows, { stallSeconds: 1.2 })).toMatchObject({ fault: null });
  });
});

function never(): Promise<string[]> {
  return new Promise(() => {});
}

describe("an abort", () => {
  const reason = new Error("the server stops");
  /** Aborts a fetch when a host has the request, or when this many bytes of the body have arrived. */
  const aborted = async (behaviour: Behaviour, at: "connected" | number) => {
    using folder = temporaryDirectory();
    const stop = new AbortController();
    const left = Promise.withResolvers<void>();
    await using host = await startHost({
      "/a": (socket, head) => {
        socket.on("close", left.resolve);
        behaviour(socket, head);
        if (at === "connected") stop.abort(reason);
      },
    });
    const fetched = fetchTo(join(folder.path, "recording"), `http://recordings.test:${host.port}/a`, {
      signal: stop.signal,
      reserveSpace: () => onWritten((total) => typeof at === "number" && total >= at && stop.abort(reason)),
    });
    await expect(fetched).rejects.toBe(reason);
    expect(readdirSync(folder.path)).toEqual([]);
    await left.promise;
  };

  test("before the response ends the fetch with the abort's reason and closes the connection", async () => {
    await aborted(silent, "connected");
  });

  test("in a body of announced length does the same", async () => {
    await aborted((socket) => socket.write(answer("200 OK", SOUND, "Content-Length: 900000")), 1);
  });

  test("in a body up to the connection's end is not mistaken for the end", async () => {
    await aborted(stallsInBody, 1);
  });

  test("at the last byte leaves no file", async () => {
    await aborted(sound, SOUND.length);
  });

  test("before the start sends no request", async () => {
    await using host = await startHost({});
    const fetched = fetching(`http://127.0.0.1:${host.port}/a`, { signal: AbortSignal.abort(reason) });
    await expect(fetched).rejects.toBe(reason);
    expect(host.connections()).toBe(0);
  });

  test("during name resolution ends the fetch at once", async () => {
    const stop = new AbortController();
    const resolve = () => {
      stop.abort(reason);
      return never();
    };
    await expect(fetching("http://recordings.test:9/a", { signal: stop.signal, resolve })).rejects.toBe(reason);
  });
});

describe("the stored file", () => {
  const faultOf = (fetched: Promise<unknown>) =>
    fetched.then(
      () => null,
      (error: unknown) => (error instanceof MediaError ? error.fault : error),
    );

  test("without disk space or folder is a fault of the disk, not of the host", async () => {
    using folder = temporaryDirectory();
    await using host = await startHost({ "/a": sound });
    const url = `http://127.0.0.1:${host.port}/a`;
    const [path, part] = [join(folder.path, "recording"), join(folder.path, "recording.part")];
    symlinkSync("/dev/full", part);
    expect(await faultOf(fetchTo(path, url))).toBe("disk_full");
    expect(readdirSync(folder.path)).toEqual([]);
    expect(await faultOf(fetchTo(join(folder.path, "missing", "recording"), url))).toBe("disk_full");
    // A file that a crash left is replaced.
    writeFileSync(part, "left");
    await fetchTo(path, url);
    expect(readdirSync(folder.path)).toEqual(["recording"]);
  });

  test("grows on disk, not in memory", async () => {
    const size = 256 << 20;
    const piece = Buffer.alloc(1 << 20, 7);
    await using host = await startHost({
      "/a": (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        let left = size;
        const more = () => {
          while (left > 0 && socket.writable) {
            left -= piece.length;
            if (!socket.write(piece)) return void socket.once("drain", more);
          }
        };
        more();
      },
    });
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "fetch-child.ts"), `http://127.0.0.1:${host.port}/a`, String(size)],
      { stdout: "pipe" },
    );
    const outcome = JSON.parse(await new Response(child.stdout).text());
    expect(outcome).toMatchObject({ fault: null, sizeBytes: size });
    expect(outcome.grownBytes).toBeLessThan(100 << 20);
  });
});

import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { Type } from "@sinclair/typebox";
import { ConsoleError } from "../../../src/console/server/errors.ts";
import { readBody } from "../../../src/console/server/read-body.ts";

setDefaultTimeout(60_000);

/** Answers with the result of `readBody`, as the console's routes do. */
async function answer(request: Request, mostMilliseconds: number): Promise<Response> {
  try {
    return Response.json(await readBody(request, Type.Object({}), mostMilliseconds));
  } catch (error) {
    if (error instanceof ConsoleError) return error.asResponse();
    throw error;
  }
}

test.each(["Content-Length: 100000", "Transfer-Encoding: chunked"])(
  "a body of the console that drips is refused at its deadline, and its connection is closed: %s",
  async (framing) => {
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answer(request, 100) });
    const received = await new Promise<string>((resolve) => {
      const socket = connect(server.port ?? 0, "127.0.0.1");
      let text = "";
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`);
      const drips = setInterval(() => socket.write(framing.includes("chunked") ? "1\r\n \r\n" : " "), 10);
      socket.on("data", (bytes) => {
        text += bytes;
        clearInterval(drips);
      });
      // The slow sender has met the closed connection.
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(drips);
        resolve(text);
      });
    });
    expect(received).toStartWith("HTTP/1.1 408");
    expect(received).toContain('"too_slow"');
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  },
);

test("a complete body is read however little time is left", async () => {
  using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => answer(request, 60_000) });
  const response = await fetch(server.url, { method: "POST", body: "{}" });
  expect([response.status, await response.text()]).toEqual([200, "{}"]);
});

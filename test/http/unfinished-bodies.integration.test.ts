import { afterAll, describe, expect, test } from "bun:test";
import { ConsoleServer } from "../support/console.ts";

const server = new ConsoleServer();
afterAll(() => server[Symbol.dispose]());
const { api } = server;
const client = api.client("first");
const completed = api.enterCompleted(client.accountId, 1);
const operator = await server.operator();

const framings = ["Content-Length: 1000000", "Transfer-Encoding: chunked"];
const types = [
  "application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain",
];

/** The bytes of a request whose body begins and never ends. */
function begun(method: string, path: string, lines: readonly string[]): string {
  const body = lines.some((line) => line.startsWith("Transfer")) ? '8\r\n{"token"\r\n' : '{"token"';
  const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${api.port}`, ...lines];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

describe("a request whose body never ends", () => {
  const base = "/api/public/v1";
  const data = "/console/data";
  const requests: [string, string, number][] = [
    ["GET", "/healthz", 200],
    ["GET", "/metrics", 200],
    ["POST", "/healthz", 405],
    ["POST", "/nothing", 404],
    ["GET", `${base}/languages`, 200],
    ["GET", `${base}/transcriptions/${completed}/export?format=txt`, 200],
    ["POST", `${base}/languages`, 405],
    ["PUT", `${base}/transcriptions/${completed}`, 405],
    ["POST", `${base}/nothing`, 404],
    ["OPTIONS", `${base}/transcriptions`, 405],
    ["DELETE", `${base}/transcriptions/${api.enterProcessing(client.accountId)}`, 409],
    ["GET", "/console/", 200],
    ["POST", "/console/", 405],
    ["GET", `${data}/session`, 200],
    ["GET", `${data}/recordings`, 200],
    ["POST", `${data}/overview`, 405],
    ["DELETE", `${data}/recordings/${api.enterProcessing(client.accountId)}`, 409],
    ["DELETE", `${data}/keys/${client.keyId}x`, 404],
    ["PUT", `${data}/nothing`, 404],
  ];
  test.each(requests)("is answered at once if no handler reads the body: %s %s", async (method, path, status) => {
    for (const framing of framings) {
      for (const type of types) {
        const answer = await api.raw(
          begun(method, path, [
            ...[framing, `Content-Type: ${type}`, `Authorization: Bearer ${client.key}`, `Cookie: ${operator.cookie}`],
            ...["Sec-Fetch-Site: same-origin", `Origin: ${api.origin}`, "X-Transcribe-Console: 1"],
          ]),
        );
        expect([framing, type, answer.slice(0, 12)]).toEqual([framing, type, `HTTP/1.1 ${status}`]);
      }
    }
  });

  test.each([
    ["POST", `${base}/transcriptions`],
    ["GET", `${base}/languages`],
    ["POST", `${base}/nothing`],
  ])("is refused at once without a key: %s %s", async (method, path) => {
    expect(await api.raw(begun(method, path, [framings[0] ?? ""]))).toStartWith("HTTP/1.1 401");
  });
});

describe("a client that disconnects during its body", () => {
  const requests: [string, string][] = [
    ["POST", "/console/data/session"],
    ["PUT", `/console/data/recordings/${completed}/speakers`],
    ["POST", "/console/data/keys"],
    ["POST", `/console/data/recordings?account=${client.accountId}`],
    ["POST", "/api/public/v1/transcriptions"],
  ];
  for (const [method, path] of requests) {
    test(`is no error of the server: ${method} ${path.replace(completed, "ID").replace(client.accountId, "ID")}`, async () => {
      for (const framing of framings) {
        const before = api.log.length;
        const socket = await Bun.connect({ hostname: "127.0.0.1", port: api.port, socket: { data: () => {} } });
        socket.write(
          begun(method, path, [
            ...[framing, "Content-Type: multipart/form-data; boundary=x", `Authorization: Bearer ${client.key}`],
            ...[`Cookie: ${operator.cookie}`, "Sec-Fetch-Site: same-origin", "X-Transcribe-Console: 1"],
          ]),
        );
        socket.flush();
        // Two later requests were answered, so the server is reading the body by now.
        for (let later = 0; later < 2; later++) await fetch(`${api.origin}/healthz`);
        socket.terminate();
        while (!api.log.slice(before).some((line) => line.clientClosed === true)) await Bun.sleep(2);
        const lines = api.log.slice(before);
        expect(lines.filter(({ level, status }) => Number(level) >= 40 || Number(status) >= 500)).toEqual([]);
      }
    });
  }
});

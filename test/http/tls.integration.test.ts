import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { changeAccount, requireAccount } from "../../src/accounts/index.ts";
import { parseNetworks } from "../../src/addresses/index.ts";
import { createSurfaces, parseHostNames, readCredentials, startServer } from "../../src/http/index.ts";
import { canMakeCertificates, makeCertificate, type TestCertificate } from "../support/certificate.ts";
import { createHead } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";

const host = "127.0.0.1";
const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe.skipIf(!canMakeCertificates("serving over TLS"))("over TLS", () => {
  const folder = temporaryDirectory();
  const plain = new ApiServer();
  let first: TestCertificate;
  let second: TestCertificate;
  let server: ReturnType<typeof startServer>;
  const credentialsOf = ({ certificatePath, keyPath }: TestCertificate) =>
    readCredentials(certificatePath, keyPath, Date.now());
  beforeAll(() => {
    first = makeCertificate(folder.path, "first");
    second = makeCertificate(folder.path, "second");
    const { log, metrics, now } = plain.appOptions;
    const surfaces = createSurfaces({ ...plain.appOptions, secure: true });
    const proxies = parseNetworks([]);
    const credentials = credentialsOf(first);
    const hosts = parseHostNames(["a", "ab", "abc", "abcd", "a.b.example.org"]);
    const options = { surfaces, host, port: 0, credentials, log, metrics, now };
    server = startServer({ ...options, proxies: () => proxies, hosts: () => hosts, pause: () => null });
  });
  afterAll(async () => {
    await server.stop(true);
    plain[Symbol.dispose]();
    folder[Symbol.dispose]();
  });

  const open = async (versions: { minVersion?: "TLSv1" | "TLSv1.2"; maxVersion?: "TLSv1.1" | "TLSv1.2" } = {}) => {
    const socket = connect({ host, port: server.port, rejectUnauthorized: false, ...versions });
    await once(socket, "secureConnect");
    return socket;
  };
  const namesOf = (socket: TLSSocket) => socket.getPeerCertificate().subjectaltname;
  const ask = async (socket: TLSSocket, text: string) => {
    socket.write(text);
    const [piece] = await once(socket, "data");
    return String(piece);
  };

  test("the answers are those of plain HTTP, with https links", async () => {
    const { key, accountId } = plain.client("guest");
    changeAccount(plain.store, requireAccount(plain.store, accountId), plain.operator(), { standing: "guest" });
    const url = `https://localhost:${server.port}/api/public/v1/languages`;
    const tls = { ca: first.certificate, serverName: "first.test" };
    expect((await fetch(url, { tls })).status).toBe(401);
    const refused = await fetch(url, { tls, headers: { authorization: `Bearer ${key}` } });
    expect(await refused.json()).toMatchObject({ docs: `https://localhost:${server.port}/docs` });
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]) {
      const answer = await fetch(`https://localhost:${server.port}${path}`, { tls: { rejectUnauthorized: false } });
      expect([path, answer.status]).toEqual([path, 200]);
    }
  });

  test.each(["a", "ab", "abc", "abcd", "localhost", "[::1]", "a.b.example.org:8787"])(
    "a host may be %s",
    async (name) => {
      const socket = await open();
      expect(await ask(socket, `GET /healthz?x=/y HTTP/1.1\r\nHost: ${name}\r\n\r\n`)).toStartWith("HTTP/1.1 200 ");
      const refused = await ask(socket, `GET /api/public/v1/languages HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
      expect(refused).toStartWith("HTTP/1.1 401 ");
      socket.destroy();
    },
  );

  test("a request with HTTP/1.0 without a Host is answered", async () => {
    const socket = await open();
    expect(await ask(socket, "GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.[01] 200 /);
    socket.destroy();
  });

  test("TLS 1.2 is accepted and TLS 1.1 is refused", async () => {
    const socket = await open({ maxVersion: "TLSv1.2" });
    expect(socket.getProtocol()).toBe("TLSv1.2");
    socket.destroy();
    expect(open({ minVersion: "TLSv1", maxVersion: "TLSv1.1" })).rejects.toThrow();
  });

  test("plain HTTP gets no answer, and 200 silent connections block no client", async () => {
    const idle = Array.from({ length: 200 }, () => connectTcp(server.port, host));
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    const talking = connectTcp(server.port, host);
    let received = "";
    talking.on("data", (piece) => {
      received += piece;
    });
    talking.on("error", () => {});
    talking.write(head("/healthz"));
    await once(talking, "close");
    expect(received).not.toContain("HTTP/1.1");
    const socket = await open();
    expect(await ask(socket, head("/healthz"))).toStartWith("HTTP/1.1 200 ");
    for (const each of [...idle, socket]) each.destroy();
  });

  test("a new certificate is used for new connections, while a request in progress completes", async () => {
    const client = plain.client("first");
    const uploading = await open();
    const body = `--x\r\nContent-Disposition: form-data; name="language"\r\n\r\nzz\r\n--x--\r\n`;
    uploading.write(createHead(client.key, body.length) + body.slice(0, 20));
    const waiting = await open();
    expect(await ask(waiting, head("/healthz"))).toStartWith("HTTP/1.1 200 ");
    expect(namesOf(waiting)).toBe("DNS:first.test");
    const { port } = server;
    const closed = once(waiting, "close");

    server.useCredentials(credentialsOf(second));

    expect(server.port).toBe(port);
    const fresh = await open();
    expect(namesOf(fresh)).toBe("DNS:second.test");
    expect(await ask(fresh, head("/healthz"))).toStartWith("HTTP/1.1 200 ");
    fresh.destroy();
    await closed;
    const answer = await ask(uploading, body.slice(20));
    expect(answer).toStartWith("HTTP/1.1 422 ");
    expect(answer).toContain('"url"');
    uploading.destroy();
  });

  test("a stop waits for the requests in progress of all certificates", async () => {
    server.useCredentials(credentialsOf(first));
    server.useCredentials(credentialsOf(second));
    await server.stop();
    expect(open()).rejects.toThrow();
  });
});

import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { fetching, redirect, SOUND, sound, startHost } from "./support.ts";

const openssl = Bun.which("openssl");
if (openssl === null) console.warn("SKIPPED: fetching over TLS (missing: the openssl command)");

let tls = { key: "", cert: "" };

beforeAll(async () => {
  if (openssl === null) return;
  using folder = temporaryDirectory();
  const [key, cert] = [join(folder.path, "key.pem"), join(folder.path, "cert.pem")];
  const made = Bun.spawnSync([
    ...[openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-subj", "/CN=right.test", "-addext", "subjectAltName=DNS:right.test", "-keyout", key, "-out", cert],
  ]);
  if (made.exitCode !== 0) throw new Error(`openssl made no certificate: ${made.stderr.toString()}`);
  tls = { key: await Bun.file(key).text(), cert: await Bun.file(cert).text() };
});

describe.skipIf(openssl === null)("over TLS, a recording", () => {
  const start = () =>
    startHost(
      {
        "/a": sound,
        "/wrong": (socket) => socket.write(redirect(`https://wrong.test:${socket.localPort}/a`)),
        "/down": (socket) => socket.write(redirect("http://right.test:9/a")),
        "/onward": (socket) => socket.write(redirect("/a")),
      },
      { tls },
    );
  const trusting = () => ({ authorities: [tls.cert] });

  test("is fetched from a host with a trusted certificate for its name, although the connection is to an address", async () => {
    await using host = await start();
    const outcome = await fetching(`https://right.test:${host.port}/onward`, trusting());
    expect(outcome).toMatchObject({ fault: null });
    expect(outcome.content?.equals(SOUND)).toBe(true);
    expect(await fetching(`https://right.test.:${host.port}/a`, trusting())).toMatchObject({ fault: null });
  });

  test("is not requested if the certificate has another name, even after a redirect", async () => {
    await using host = await start();
    for (const name of ["wrong.test", "127.0.0.1"]) {
      const outcome = await fetching(`https://${name}:${host.port}/a`, trusting());
      expect(outcome).toMatchObject({ fault: "fetch_tls_failed", files: [] });
    }
    expect(host.requests).toEqual([]);
    // The first connection was valid for its own name only.
    const redirected = await fetching(`https://right.test:${host.port}/wrong`, trusting());
    expect(redirected).toMatchObject({ fault: "fetch_tls_failed", files: [] });
    expect(host.requests.length).toBe(1);
  });

  test("is not requested if the certificate is untrusted, whatever the environment contains", async () => {
    await using host = await start();
    const url = `https://right.test:${host.port}/a`;
    expect(await fetching(url)).toMatchObject({ fault: "fetch_tls_failed", files: [] });
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "fetch-child.ts"), url], {
      env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0" },
      stdout: "pipe",
      stderr: "ignore",
    });
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual({ fault: "fetch_tls_failed" });
    expect(host.requests).toEqual([]);
  });

  test("is not fetched over http after a redirect", async () => {
    await using host = await start();
    const outcome = await fetching(`https://right.test:${host.port}/down`, trusting());
    expect(outcome).toMatchObject({ fault: "fetch_bad_url", files: [] });
  });

  test("is not fetched from a host without TLS", async () => {
    await using host = await startHost({});
    // The host reads the greeting as a request for an unknown path, and answers in plain HTTP.
    const outcome = await fetching(`https://right.test:${host.port}/a`, trusting());
    expect(outcome).toMatchObject({ fault: "fetch_tls_failed", files: [] });
  });
});

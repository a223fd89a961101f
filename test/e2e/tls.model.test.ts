import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { findRunningServer, trustOf } from "../../src/api-contract/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import {
  canMakeCertificates,
  makeCertificate,
  makeSignedCertificate,
  runOpenssl,
  type TestCertificate,
} from "../support/certificate.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";

describe.skipIf(!canMakeCertificates("a server with a certificate"))("a server with a certificate", () => {
  const folder = temporaryDirectory();
  const [certificatePath, keyPath] = [join(folder.path, "live.pem"), join(folder.path, "live.key")];
  const install = (made: TestCertificate) => {
    copyFileSync(made.keyPath, keyPath);
    copyFileSync(made.certificatePath, certificatePath);
  };
  let server: TestServer;
  let first: TestCertificate;
  let second: TestCertificate;
  beforeAll(async () => {
    first = makeCertificate(folder.path, "first");
    second = makeSignedCertificate(folder.path, "second", makeCertificate(folder.path, "authority"));
    install(first);
    server = new TestServer({
      ...tinyRecognizer(),
      TRANSCRIBE_SERVER_TLS_CERTIFICATE: certificatePath,
      TRANSCRIBE_SERVER_TLS_KEY: keyPath,
    });
    await server.start(false);
  }, startTimeout);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const servedCertificate = () => {
    const output = runOpenssl("s_client", "-connect", server.origin.replace("https://", ""));
    return /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n/s.exec(output)?.[0];
  };
  const reload = async (event: string) => {
    const before = server.log.filter((line) => line.event === event).length;
    process.kill(server.pid, "SIGHUP");
    await server.until(() => server.log.filter((line) => line.event === event).length > before);
    return server.log.findLast((line) => line.event === event);
  };
  const statusForCommands = async () => {
    const running = await findRunningServer(new DataDirectory(server.dataDirectory));
    if (running === null) throw new Error("commands do not find the server");
    return (await fetch(`${running.origin}/healthz`, trustOf(running))).status;
  };

  test("logs an https address, and local commands trust exactly its certificate", async () => {
    expect(server.origin).toStartWith("https://127.0.0.1:");
    expect(servedCertificate()).toBe(first.certificate);
    expect(await statusForCommands()).toBe(200);
    const running = { pid: 1, version: "0", origin: server.origin, modelSetting: "", certificate: second.certificate };
    expect(fetch(`${server.origin}/healthz`, trustOf(running))).rejects.toThrow();
  });

  test("serves a renewed certificate of an unknown authority after SIGHUP", async () => {
    install(second);
    expect(await reload("tls.certificate_renewed")).toMatchObject({ level: "info", sha256: expect.any(String) });
    expect(servedCertificate()).toBe(second.certificate);
    expect(await statusForCommands()).toBe(200);
  });

  test("logs an invalid certificate and continues to serve the previous one", async () => {
    writeFileSync(certificatePath, first.certificate);
    const line = await reload("tls.certificate_refused");
    expect(line).toMatchObject({ level: "error", trouble: expect.stringContaining("does not belong to the first") });
    expect(JSON.stringify(server.log)).not.toContain("PRIVATE KEY");
    expect(servedCertificate()).toBe(second.certificate);
    install(first);
    await reload("tls.certificate_renewed");
    expect(servedCertificate()).toBe(first.certificate);
    expect(await statusForCommands()).toBe(200);
  });
});

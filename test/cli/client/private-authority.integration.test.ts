import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { runCli } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { canMakeCertificates, makeCertificate, runOpenssl } from "../../support/certificate.ts";
import { ApiServer } from "../../support/http.ts";

setDefaultTimeout(60_000);

describe.if(canMakeCertificates("tests of a private authority"))(
  "a server whose certificate a private authority signed",
  () => {
    test("is trusted only with --ca, and not under another name", async () => {
      using server = new ApiServer();
      using folder = temporaryDirectory();
      const [key, own] = [join(folder.path, "own.key"), join(folder.path, "own.crt")];
      runOpenssl(
        ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"],
        ...["-subj", "/CN=own", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", own],
      );
      const other = makeCertificate(folder.path, "other");
      const serve = (certificate: string, keyPath: string) =>
        Bun.serve({
          hostname: "127.0.0.1",
          port: 0,
          tls: { cert: Bun.file(certificate), key: Bun.file(keyPath) },
          fetch: (request) => {
            const { pathname, search } = new URL(request.url);
            return fetch(server.origin + pathname + search, { headers: request.headers });
          },
        });
      using good = serve(own, key);
      using misnamed = serve(other.certificatePath, other.keyPath);
      const environment = { HOME: folder.path, TRANSCRIBE_API_KEY: server.client("tls").key };
      const list = (origin: string, ...args: string[]) =>
        runCli(["list", "--json", "--server", origin, ...args], environment);

      const believed = await list(good.url.origin, "--ca", own);
      expect(believed).toEqual({ exitCode: 0, stdout: "[]\n", stderr: "" });
      const fromEnvironment = await runCli(["list", "--json", "--server", good.url.origin], {
        ...environment,
        TRANSCRIBE_CA: own,
      });
      expect(fromEnvironment.exitCode).toBe(0);

      const refused = await Promise.all([
        list(good.url.origin),
        list(good.url.origin, "--ca", other.certificatePath),
        list(misnamed.url.origin, "--ca", other.certificatePath),
      ]);
      for (const { exitCode, stdout, stderr } of refused) {
        expect([exitCode, stdout]).toEqual([4, ""]);
        expect(stderr).toContain("--ca");
      }
      const plain = await list(good.url.origin.replace("https:", "http:"));
      expect([plain.exitCode, plain.stderr]).toEqual([
        4,
        expect.stringMatching(/^transcribe: no answer .* https:\/\/\n$/),
      ]);
      expect(plain.stderr).not.toContain("verbose");
      const noPem = await list(good.url.origin, "--ca", key);
      expect([noPem.exitCode, noPem.stderr]).toEqual([1, expect.stringContaining("no certificate in PEM")]);
      const endless = await list(good.url.origin, "--ca", "/dev/zero");
      expect([endless.exitCode, endless.stderr]).toEqual([1, expect.stringContaining("it has more than 1.0 MB")]);
    }, 180_000);
  },
);

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { AwsClient } from "aws4fetch";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import type { BucketOptions } from "../../src/storage/bucket.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { installPythonPackages, pythonEnvironment } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";
import { makeCertificate, type TestCertificate } from "./certificate.ts";

/** The folder of moto's packages; null if they cannot be installed. */
export const motoPackages = await installPythonPackages(defaultCacheRoot(), testPackages.moto).catch(
  (error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: tests with an object store; moto cannot be installed: ${error.message}`);
    return null;
  },
);

const startedSchema = Type.Object({
  port: Type.Integer(),
  accessKeyId: Type.String(),
  secretAccessKey: Type.String(),
});

/** An S3 server that checks signatures, behind TLS with a certificate of its own. */
export class ObjectStore implements AsyncDisposable {
  /** Requests so far, such as `PUT /audio/a`. */
  readonly requests: string[] = [];
  /** While it is true, requests are answered with 503. */
  isDown = false;
  /** Called before a request is answered. */
  onRequest: (request: string) => void = () => {};
  readonly #moto: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #proxy: Bun.Server<undefined>;
  readonly #credentials: BucketOptions["credentials"];
  readonly #certificate: TestCertificate;

  private constructor(moto: Bun.Subprocess<"pipe", "pipe", "inherit">, started: typeof startedSchema.static) {
    this.#moto = moto;
    const { port, ...credentials } = started;
    this.#credentials = credentials;
    using folder = temporaryDirectory();
    this.#certificate = makeCertificate(folder.path, "store", "localhost");
    this.#proxy = Bun.serve({
      hostname: "localhost",
      port: 0,
      tls: { cert: this.#certificate.certificate, key: this.#certificate.key },
      maxRequestBodySize: 2 ** 40,
      fetch: (request) => this.#forward(request, port),
    });
  }

  /** Starts it with the bucket `audio`. */
  static async start(): Promise<ObjectStore> {
    const moto = Bun.spawn(["python3", join(import.meta.dir, "object-store.py")], {
      env: { ...process.env, ...pythonEnvironment(motoPackages ?? "") },
      ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
    });
    const reader = moto.stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    const store = new ObjectStore(moto, Value.Parse(startedSchema, JSON.parse(new TextDecoder().decode(value))));
    await store.put("");
    return store;
  }

  /** Creates an object, or the bucket. */
  async put(path: string, body = "", headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const { endpoint, credentials, authority } = this.options();
    const client = new AwsClient({ ...credentials, region: "us-east-1", service: "s3" });
    const signed = await client.sign(`${endpoint}/audio${path}`, { method: "PUT", headers, body });
    const answer = await fetch(signed, { tls: { ca: authority ?? "" } });
    if (!answer.ok) throw new Error(await answer.text());
  }

  /** Returns how to reach its bucket. */
  options(changes: Partial<BucketOptions> = {}) {
    return {
      ...{ bucket: "audio", prefix: "", endpoint: `https://localhost:${this.#proxy.port}`, region: "us-east-1" },
      ...{ credentials: this.#credentials, authority: this.#certificate.certificate, headers: {} },
      ...changes,
    };
  }

  async #forward(request: Request, port: number): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const name = `${request.method} ${pathname}`;
    this.requests.push(name);
    this.onRequest(name);
    if (this.isDown) return new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 });
    const body = request.body === null ? {} : { body: await request.arrayBuffer() };
    const { method, headers } = request;
    const answer = await fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method, headers, ...body });
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy.stop(true);
    this.#moto.stdin.end();
    await this.#moto.exited;
  }
}

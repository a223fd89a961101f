import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { AwsClient } from "aws4fetch";
import { MachineError } from "../disk/index.ts";
import { messageOf } from "../text/index.ts";

/** Access to a bucket of an object store that has the S3 API. */
export interface BucketOptions {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** Address of the store, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Certificate (PEM) of the authority that signed the store's certificate; null: those that the system trusts. */
  readonly authority: string | null;
  /** Headers with which objects are written, such as those of the server-side encryption. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes that are sent in one request; a larger file is sent in parts. */
  readonly partBytes?: number;
}

const PART_BYTES = 64 * 1024 ** 2;
/** Name of the header with the SHA-256 of a file, which is stored with the object. */
const HASH_HEADER = "x-amz-meta-sha256";
/** Time without an answer, or without further bytes of it, after which a request fails. */
const STALL_MILLISECONDS = 60_000;
/** Slowest transfer of a part that is waited for. */
const LEAST_BYTES_PER_SECOND = 16 * 1024;

/** Query of a request. */
type Query = Readonly<Record<string, string>>;
interface Request {
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses that the caller handles, other than success. */
  readonly expected?: readonly number[];
  readonly body?: Blob;
  readonly signal?: AbortSignal;
}

/**
 * Files as objects of a bucket. The store checks the SHA-256 of what is sent, and this object that of what it receives.
 * Methods throw a MachineError when the store can't be reached or refuses: an operator or time resolves that.
 */
export class Bucket {
  readonly #options: BucketOptions;
  readonly #client: AwsClient;
  readonly #partBytes: number;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#partBytes = options.partBytes ?? PART_BYTES;
    const { credentials, region } = options;
    this.#client = new AwsClient({ ...credentials, region, service: "s3", retries: 0 });
  }

  /** The address of the bucket, for messages. */
  get address(): string {
    const { endpoint, bucket, prefix } = this.#options;
    return `${endpoint}/${bucket}/${prefix}`;
  }

  /** Stores a file, which replaces an earlier one. Nothing is sent if the bucket has the same file. */
  async put(name: string, path: string, signal?: AbortSignal): Promise<void> {
    const file = Bun.file(path);
    const hash = await sha256Of(file);
    if ((await this.#hashOf(name)) === hash) return;
    const headers = { ...this.#options.headers, [HASH_HEADER]: hash };
    const more = signal === undefined ? {} : { signal };
    if (file.size <= this.#partBytes) await this.#send("PUT", name, { ...more, headers, body: file });
    else await this.#putParts(name, file, headers, more);
  }

  /** Copies an object into a new file. @returns false if there is no such object */
  async get(name: string, path: string): Promise<boolean> {
    const response = await this.#send("GET", name, { expected: [404] });
    if (response.status === 404) {
      await requireBucket(response);
      return false;
    }
    const file = await open(path, "wx", 0o600);
    try {
      const hash = createHash("sha256");
      for await (const chunk of piecesOf(response)) {
        hash.update(chunk);
        await file.writeFile(chunk);
      }
      const expected = response.headers.get(HASH_HEADER);
      if (expected !== null && hash.digest("hex") !== expected) throw unreachable("an object arrived damaged");
    } finally {
      await file.close();
    }
    return true;
  }

  async has(name: string): Promise<boolean> {
    const text = await (await this.#send("GET", "", { query: this.#listQuery(name, { "max-keys": "1" }) })).text();
    return valuesOf(text, "Key").includes(this.#keyOf(name));
  }

  async remove(name: string): Promise<void> {
    await this.#send("DELETE", name, { expected: [404] });
  }

  /** Returns the names of all objects. */
  async list(): Promise<string[]> {
    const names: string[] = [];
    let token: string | undefined;
    do {
      const query = this.#listQuery("", token === undefined ? {} : { "continuation-token": token });
      const text = await (await this.#send("GET", "", { query })).text();
      names.push(...valuesOf(text, "Key").map((key) => key.slice(this.#options.prefix.length)));
      token = valuesOf(text, "IsTruncated")[0] === "true" ? valuesOf(text, "NextContinuationToken")[0] : undefined;
    } while (token !== undefined);
    return names;
  }

  /** Removes parts of files that were not stored completely, because a server was killed. */
  async removeParts(): Promise<void> {
    const text = await (await this.#send("GET", "", { query: { uploads: "", prefix: this.#options.prefix } })).text();
    const ids = valuesOf(text, "UploadId");
    for (const [index, key] of valuesOf(text, "Key").entries()) {
      const uploadId = ids[index] ?? "";
      await this.#send("DELETE", key.slice(this.#options.prefix.length), { query: { uploadId }, expected: [404] });
    }
  }

  async #putParts(
    name: string,
    file: Blob,
    headers: Readonly<Record<string, string>>,
    more: Pick<Request, "signal">,
  ): Promise<void> {
    const begun = await (await this.#send("POST", name, { query: { uploads: "" }, headers })).text();
    const uploadId = valuesOf(begun, "UploadId")[0] ?? "";
    const tags: string[] = [];
    for (let start = 0; start < file.size; start += this.#partBytes) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const body = file.slice(start, start + this.#partBytes);
      tags.push((await this.#send("PUT", name, { ...more, query, body })).headers.get("etag") ?? "");
    }
    const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const list = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join("")}</CompleteMultipartUpload>`;
    const done = await (await this.#send("POST", name, { query: { uploadId }, body: new Blob([list]) })).text();
    // The status is sent before the parts are joined.
    if (/<Error>/.test(done)) throw unreachable(`the parts of an object can't be joined${codeIn(done)}`);
  }

  async #hashOf(name: string): Promise<string | null> {
    const { status, headers } = await this.#send("HEAD", name, { expected: [404] });
    return status === 404 ? null : headers.get(HASH_HEADER);
  }

  #keyOf(name: string): string {
    return `${this.#options.prefix}${name}`;
  }

  #listQuery(name: string, more: Query): Query {
    return { "list-type": "2", prefix: this.#keyOf(name), ...more };
  }

  /** @param name of an object; empty for the bucket */
  async #send(method: string, name: string, { query = {}, headers = {}, expected = [], body, ...more }: Request) {
    const { endpoint, bucket, authority } = this.#options;
    const url = new URL(`${endpoint}/${bucket}${name === "" ? "" : `/${this.#keyOf(name)}`}`);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const hash = await sha256Of(body ?? new Blob());
    const signed = await this.#client.sign(url.href, { method, headers: { ...headers, "x-amz-content-sha256": hash } });
    const timeout = AbortSignal.timeout(STALL_MILLISECONDS + ((body?.size ?? 0) * 1000) / LEAST_BYTES_PER_SECOND);
    const signal = more.signal === undefined ? timeout : AbortSignal.any([timeout, more.signal]);
    let response: Response;
    try {
      response = await fetch(url, {
        ...{ method, headers: signed.headers, body: body ?? null, signal, redirect: "manual" },
        ...(authority === null ? {} : { tls: { ca: authority } }),
      });
    } catch (error) {
      more.signal?.throwIfAborted();
      throw unreachable(messageOf(error));
    }
    if (response.ok || expected.includes(response.status)) return response;
    throw unreachable(`it answers with status ${response.status}${codeIn(await response.text().catch(() => ""))}`);
  }
}

/** The object store can't be used now. Its code makes it a trouble of the machine, for which recordings wait. */
function unreachable(reason: string): MachineError {
  return new MachineError("AUDIO_STORE", `the object store can't be used: ${reason}`);
}

/** @throws {MachineError} for the answer of a store that lacks the bucket, not only the object */
async function requireBucket(response: Response): Promise<void> {
  const code = codeIn(await response.text());
  if (code.includes("NoSuchBucket")) throw unreachable(`it answers with status 404${code}`);
}

/** Returns the code of an error in an answer, for a message. */
function codeIn(text: string): string {
  const [code] = valuesOf(text, "Code");
  return code !== undefined && /^\w{1,60}$/.test(code) ? ` (${code})` : "";
}

/** Returns the texts of all elements of a name. Ours have no markup. */
function valuesOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, value]) => value ?? "");
}

async function sha256Of(blob: Blob): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of blob.stream()) hash.update(chunk);
  return hash.digest("hex");
}

/** Yields the bytes of an answer. @throws {MachineError} when they stop to arrive */
async function* piecesOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = (response.body ?? new Blob().stream()).getReader();
  try {
    for (;;) {
      const stalled = Promise.withResolvers<never>();
      const timer = setTimeout(() => stalled.reject(new Error("no bytes arrive")), STALL_MILLISECONDS);
      const { done, value } = await Promise.race([reader.read(), stalled.promise])
        .catch((error: unknown) => {
          throw unreachable(messageOf(error));
        })
        .finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

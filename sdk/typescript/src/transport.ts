import { ApiError, BadAnswerError, NoAnswerError } from "./errors.ts";
import type { LiveSocket, LiveSocketClass } from "./live/socket.ts";
import { chunksOf, type FormBody, MultipartForm, randomId } from "./recording-file.ts";
import { Backoff, type Clock, type Pause, systemClock } from "./retries.ts";
import { TimeLimit } from "./time-limit.ts";
import { basePath, type ErrorEnvelope, version } from "./types.ts";

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the client's time limit for an answer. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Called before each pause. The pause ends early when the returned promise resolves. An error that is thrown here
   * ends the call.
   */
  readonly onPause?: ((pause: Pause) => void | Promise<void>) | undefined;
}

/** Options of a call that uploads a recording. */
export interface UploadOptions extends CallOptions {
  /**
   * Whether the server compares the upload with its SHA-256 digest, for which the recording is read once more before
   * it is sent. Not in browsers.
   */
  readonly verify?: boolean | undefined;
  /** Receives the share of the upload that was passed to the network, 0 to 1. Not in browsers. */
  readonly onUpload?: ((share: number) => void) | undefined;
}

export interface ClientOptions {
  /** Address of the server, e.g. `https://transcribe.example.org`. */
  readonly baseUrl: string;
  /** An API key: `trs_…`. */
  readonly key: string;
  /** Seconds for an answer, or without progress of an upload. Default: 120. */
  readonly timeoutSeconds?: number | undefined;
  /** Seconds for which a request is retried after its first failure; 0 never retries. Default: 600. */
  readonly retrySeconds?: number | undefined;
  /** Waits for a free place of the account and for the rate limit however long that takes. Default: false. */
  readonly waitsForLimits?: boolean | undefined;
  /** Replaces the global `fetch`, e.g. for a proxy or an authority of your own. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Replaces the global `WebSocket`, e.g. by that of the package ws for Node before version 22. */
  readonly webSocket?: LiveSocketClass | undefined;
  /** Replaces the system's clock and randomness, in tests. */
  readonly clock?: Clock | undefined;
}

/** A request below the API's base path. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly form?: object;
  /** Sent as JSON. */
  readonly body?: object;
}

/** A downloaded file. */
export interface Download {
  readonly content: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;
  readonly etag: string | null;
  /** Whether the file still has the tag in `if_none_match`; `content` is empty in this case. */
  readonly isUnchanged: boolean;
}

/** Seconds for an export: a document is generated on request, and may be queued. */
const MIN_FILE_SECONDS = 300;
/** Maximum size of an answer, larger than a transcript of 18 hours in any format. The server may not be the real one. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** Options of a streamed body. Without the first two, Node keeps all of it in memory, to send it again after a redirect. */
const STREAMED = { redirect: "error", window: null, duplex: "half" };
/** Codes of a certificate that is not trusted, in Node and Bun. */
const UNTRUSTED = /CERT|SIGNATURE|ERR_TLS/;
/** Codes of an address where nothing listens. If no server has answered there so far, it is probably wrong. */
const UNREACHABLE =
  /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/** Matches what may be a subprotocol: a token of HTTP. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Sends requests with the key, and repeats them as long as that makes sense. */
export class Transport {
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #webSocket: LiveSocketClass | undefined;
  readonly timeoutSeconds: number;
  readonly #retrySeconds: number;
  readonly #waitsForLimits: boolean;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly clock: Clock;
  #reached = false;

  constructor({ baseUrl, key, timeoutSeconds = 120, retrySeconds = 600, ...options }: ClientOptions) {
    this.#baseUrl = apiAddress(baseUrl);
    // An invalid header would be named in an error of the runtime, with the key.
    if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError("the API key is empty or has characters that no key has");
    this.#key = key;
    this.timeoutSeconds = timeoutSeconds;
    this.#retrySeconds = retrySeconds;
    this.#waitsForLimits = options.waitsForLimits ?? false;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#webSocket = options.webSocket;
    this.clock = options.clock ?? systemClock;
  }

  /** The API's address, for messages. */
  get baseUrl(): string {
    return this.#baseUrl;
  }

  /**
   * Opens a WebSocket. A browser can't send the key in a header, so it is a subprotocol.
   * @throws {TypeError} when this runtime has no WebSocket, or the key can't be a subprotocol
   */
  webSocket(request: Pick<ApiRequest, "path" | "query">): LiveSocket {
    const WebSocket: LiveSocketClass | undefined = this.#webSocket ?? globalThis.WebSocket;
    if (WebSocket === undefined) {
      throw new TypeError("this runtime has no WebSocket: give the client that of the package ws as webSocket");
    }
    // The runtime's error would contain the key.
    if (!TOKEN.test(this.#key)) throw new TypeError("the API key has characters that a WebSocket can't send");
    const url = this.#addressOf({ method: "GET", ...request }).replace(/^http/, "ws");
    return new WebSocket(url, ["transcribe", `bearer.${this.#key}`]);
  }

  /** Makes a request once. @returns its failure; null if it succeeds */
  async failureOf(request: ApiRequest): Promise<unknown> {
    try {
      await this.#attempt(request, null, { timeoutSeconds: this.timeoutSeconds }, (response) =>
        this.#contentOf(response),
      );
      return null;
    } catch (error) {
      return error;
    }
  }

  json<T>(request: ApiRequest, call: UploadOptions): Promise<T> {
    return this.#run(request, call, 0, async (response) => {
      const value = parsed(await this.#contentOf(response));
      if (typeof value !== "object" || value === null)
        throw new BadAnswerError(`${this.#baseUrl} answered without JSON`);
      return value as T;
    });
  }

  nothing(request: ApiRequest, call: CallOptions): Promise<void> {
    return this.#run(request, call, 0, async (response) => {
      await this.#contentOf(response);
    });
  }

  file(request: ApiRequest, call: CallOptions): Promise<Download> {
    return this.#run(request, call, MIN_FILE_SECONDS, async (response) => ({
      content: await this.#contentOf(response),
      mediaType: response.headers.get("content-type") ?? "",
      etag: response.headers.get("etag"),
      isUnchanged: response.status === 304,
    }));
  }

  /** Sends a request until it succeeds, or until its failure stays. */
  async #run<T>(
    request: ApiRequest,
    call: UploadOptions,
    minSeconds: number,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { signal, onPause } = call;
    const isRepeatable = request.method !== "POST" || request.headers?.["Idempotency-Key"] !== undefined;
    const form = request.form === undefined ? null : new MultipartForm(request.form, await randomId());
    const backoff = new Backoff(this.clock, this.#retrySeconds, this.#waitsForLimits);
    const timeoutSeconds = Math.max(minSeconds, call.timeoutSeconds ?? this.timeoutSeconds);
    for (let attempts = 0; ; attempts++) {
      try {
        const result = await this.#attempt(request, form, { ...call, timeoutSeconds }, read);
        this.#reached = true;
        return result;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ApiError) this.#reached = true;
        // An earlier attempt deleted the recording, but its answer was lost.
        if (isDeleted(request, error, attempts)) return undefined as T;
        const pause = isRepeatable ? backoff.after(error) : null;
        if (pause === null) throw error;
        await this.#wait(pause, signal, onPause?.(pause) ?? undefined);
      }
    }
  }

  /** Waits for the end of a pause, or until `ended` resolves. */
  async #wait(
    { milliseconds }: Pause,
    signal: AbortSignal | undefined,
    ended: Promise<void> | undefined,
  ): Promise<void> {
    if (ended === undefined) return this.clock.sleep(milliseconds, signal);
    const sleeping = new AbortController();
    const stop = () => sleeping.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    try {
      await Promise.race([this.clock.sleep(milliseconds, sleeping.signal), ended]);
    } finally {
      signal?.removeEventListener("abort", stop);
      sleeping.abort();
    }
  }

  async #attempt<T>(
    request: ApiRequest,
    form: MultipartForm | null,
    { signal, timeoutSeconds = 0, verify = false, onUpload }: UploadOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const limit = new TimeLimit(
      signal,
      timeoutSeconds,
      new NoAnswerError(`${this.#baseUrl} did not answer in time`, true),
    );
    const onSent = (share: number) => {
      limit.restart();
      onUpload?.(share);
    };
    const onRead = () => {
      limit.signal.throwIfAborted();
      limit.restart();
    };
    let body: FormBody | null = null;
    try {
      if (form !== null) body = await form.open({ verify, onRead, onSent });
      return await this.#exchange(request, body, limit.signal, read);
    } finally {
      limit.end();
      await body?.close();
    }
  }

  async #exchange<T>(
    request: ApiRequest,
    form: FormBody | null,
    signal: AbortSignal,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    try {
      const response = await this.#fetch(this.#addressOf(request), {
        method: request.method,
        headers: this.#headersOf(request, form),
        signal,
        // A redirect could send the key and the recording to another server.
        ...(form === null ? { redirect: "manual", body: jsonOf(request) } : { ...STREAMED, body: form.body }),
      } as RequestInit);
      if (!response.ok && response.status !== 304) throw await this.refusalOf(response);
      return await read(response);
    } catch (error) {
      if (error instanceof ApiError || error instanceof BadAnswerError) throw error;
      if (signal.aborted) throw signal.reason;
      if (isRedirect(error)) throw this.#redirected(null);
      const code = codeOf(error);
      const isTemporary = !UNTRUSTED.test(code) && (this.#reached || !UNREACHABLE.test(code));
      throw new NoAnswerError(`no answer from ${this.#baseUrl}${code === "" ? "" : ` (${code})`}`, isTemporary, {
        cause: error,
      });
    }
  }

  #redirected(location: string | null): BadAnswerError {
    const target = location === null ? "" : ` to ${location}`;
    return new BadAnswerError(`${this.#baseUrl} redirects${target}; use the final address`, location);
  }

  /** Reads an answer. @throws {BadAnswerError} when it is too large */
  async #contentOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    if (body !== null) {
      for await (const chunk of chunksOf(body)) {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) throw new BadAnswerError(`the answer of ${this.#baseUrl} is too large`);
        chunks.push(chunk);
      }
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  }

  #addressOf({ path, query = {} }: ApiRequest): string {
    const values = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return `${this.#baseUrl}${path}${values.length > 0 ? `?${new URLSearchParams(Object.fromEntries(values))}` : ""}`;
  }

  #headersOf({ headers = {}, body }: ApiRequest, form: FormBody | null): Record<string, string> {
    const own = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    const isStream = form !== null && !(form.body instanceof Blob);
    return {
      ...Object.fromEntries(own),
      Accept: "application/json, */*",
      Authorization: `Bearer ${this.#key}`,
      "User-Agent": `transcribe-sdk-typescript/${version}`,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(form === null ? {} : { "Content-Type": form.contentType }),
      ...(isStream ? { "Content-Length": String(form.sizeBytes) } : {}),
      ...(form === null || form.digest === null ? {} : { "Content-Digest": form.digest }),
    };
  }

  /** Converts an unsuccessful answer to an error. */
  async refusalOf(response: Response): Promise<ApiError | BadAnswerError> {
    const { status, headers } = response;
    // In a browser, a redirect that is not followed has the status 0.
    if (status < 400) {
      await response.body?.cancel();
      return this.#redirected(headers.get("location"));
    }
    const body = await this.#contentOf(response).then(parsed, () => null);
    const envelope = typeof body === "object" && body !== null ? (body as Partial<ErrorEnvelope>) : {};
    const isEnvelope = typeof envelope.error === "string" && typeof envelope.message === "string";
    return new ApiError({
      status,
      code: (isEnvelope && envelope.error) || "unknown",
      message: (isEnvelope && envelope.message) || `${this.#baseUrl} answered without an error of the API`,
      requestId: headers.get("x-request-id"),
      errors: errorsOf(envelope.errors),
      required: envelope.required ?? null,
      changes: envelope.changes ?? null,
      retryAfterSeconds: secondsOf(headers.get("retry-after")),
    });
  }
}

function jsonOf({ body }: ApiRequest): string | null {
  return body === undefined ? null : JSON.stringify(body);
}

/** Parses an answer as JSON; returns null if it is not JSON. */
function parsed(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(content));
  } catch {
    return null;
  }
}

/** Returns the messages by field of an envelope, as far as they have the form of the API. */
function errorsOf(errors: unknown): Record<string, string[]> {
  const isMessages = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
  return Object.fromEntries(
    Object.entries(Object(errors)).flatMap(([field, value]) => (isMessages(value) ? [[field, value]] : [])),
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Returns the code of an error of `fetch`, or that of its cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error && typeof error.code === "string" ? error.code : codeOf(error.cause);
}

/** Returns whether `fetch` refused to follow a redirect, in Node and Bun. */
function isRedirect(error: unknown): boolean {
  return error instanceof Error && (/redirect/i.test(error.message) || isRedirect(error.cause));
}

function isDeleted({ method }: ApiRequest, error: unknown, attempts: number): boolean {
  return method === "DELETE" && attempts > 0 && error instanceof ApiError && error.status === 404;
}

/** Parses `Retry-After`: seconds, or a date, which proxies send. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** Returns the API's address on a server. @throws {TypeError} without naming the address, which may have a password */
function apiAddress(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError("baseUrl is not a URL");
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl must begin with http:// or https://");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl may have neither credentials nor a query");
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith(basePath) ? path : path + basePath}`;
}

import type { ConsoleErrorBody } from "../console/contract.ts";
import { strings } from "./strings.ts";

/**
 * URL of the data routes, relative to the script. The script is in `console/assets/` and the data in `console/data/`,
 * whatever path prefix a proxy adds.
 */
const dataAddress = new URL("../data/", import.meta.url);

/** An error response of the server, or a failed connection; its message is shown to the user. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  /** @param status HTTP status; 0: there was no response */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  /**
   * Whether a retry may soon succeed, because the server or the connection to it is temporarily unavailable. This does
   * not include status 500.
   */
  get mayPass(): boolean {
    return this.status === 0 || this.status > 500;
  }
}

/** Milliseconds before the retry of a request that failed temporarily. */
export const retryMilliseconds = 2_000;

/** Returns the URL of a path under `console/data/`. */
export function dataUrl(path: string): string {
  return new URL(path, dataAddress).href;
}

/** Headers of every request that changes something. A page of another origin cannot send them. */
export const ownHeaders: Readonly<Record<string, string>> = { "x-transcribe-console": "1" };

let onSignedOut = () => {};

/** Sets the listener that is called whenever a response shows that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export interface Asking {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/**
 * Sends a request to the server.
 * @throws {Refusal} with a message for the user; DOMException if the signal aborted the request
 */
export async function askResponse(path: string, { method = "GET", body, signal }: Asking = {}): Promise<Response> {
  const headers = { ...ownHeaders, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  let response: Response;
  try {
    response = await fetch(dataUrl(path), {
      ...{ method, headers, credentials: "same-origin", cache: "no-store" },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refusal(0, "unreachable", strings.unreachable);
  }
  if (!response.ok) throw refusalOf(response.status, await response.text());
  return response;
}

/**
 * Sends a request and parses the JSON response.
 * @throws as askResponse
 */
export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  return await (await askResponse(path, asking)).json();
}

/** Returns the message of an error for the user. */
export function troubleOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Parses an error response of the server. */
export function refusalOf(status: number, body: string): Refusal {
  const { code, message } = errorIn(body) ?? { code: "unknown", message: strings.strangeAnswer(status) };
  if (status === 401 && code === "not_signed_in") onSignedOut();
  return new Refusal(status, code, message);
}

/**
 * Returns the error in a body of the console's format. Returns null for other bodies, such as a proxy's page, or the
 * API's error where the console is disabled.
 */
function errorIn(body: string): Pick<ConsoleErrorBody["error"], "code" | "message"> | null {
  try {
    const { code, message } = (JSON.parse(body) as ConsoleErrorBody).error;
    return typeof code === "string" && typeof message === "string" ? { code, message } : null;
  } catch {
    return null;
  }
}

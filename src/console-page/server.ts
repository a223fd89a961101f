import type { ConsoleErrorBody } from "../console/contract.ts";
import { strings } from "./strings.ts";

/** The script lies in `console/assets/`, what it asks for in `console/data/`, whatever a proxy puts before both. */
const dataAddress = new URL("../data/", import.meta.url);

/** Why something asked for was not given; its message is to be shown. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  /** @param status of HTTP; 0: no answer came */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  /** Whether it may be over in a moment: the server, or the connection to it, is away for now. A 500 is not. */
  get mayPass(): boolean {
    return this.status === 0 || this.status > 500;
  }
}

/** Milliseconds after which what was refused for now is asked for again. */
export const retryMilliseconds = 2_000;

/** Address of something below `console/data/`. */
export function dataUrl(path: string): string {
  return new URL(path, dataAddress).href;
}

/** What every request carries that changes something, which a page from elsewhere can't send. */
export const ownHeaders: Readonly<Record<string, string>> = { "x-transcribe-console": "1" };

let onSignedOut = () => {};

/** Has `listener` called whenever an answer shows that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

export interface Asking {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Asks the server. @throws {Refusal} with what is to be told; DOMException where the signal ended it */
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

/** The same, for answers in JSON. */
export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  return await (await askResponse(path, asking)).json();
}

/** What to tell people of something that failed. */
export function troubleOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads why the server refused. */
export function refusalOf(status: number, body: string): Refusal {
  const { code, message } = errorIn(body) ?? { code: "unknown", message: strings.strangeAnswer(status) };
  if (status === 401 && code === "not_signed_in") onSignedOut();
  return new Refusal(status, code, message);
}

/** Null for what is not the console's own, such as a proxy's page, or the API's where there is no console. */
function errorIn(body: string): Pick<ConsoleErrorBody["error"], "code" | "message"> | null {
  try {
    const { code, message } = (JSON.parse(body) as ConsoleErrorBody).error;
    return typeof code === "string" && typeof message === "string" ? { code, message } : null;
  } catch {
    return null;
  }
}

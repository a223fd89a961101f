import { type Answers, type ConsoleErrorBody, type Requests, type RouteName, routes } from "../contract/index.ts";
import { strings } from "./strings.ts";

/**
 * URL of the data routes, relative to the script. The script is in `console/assets/` and the data in `console/data/`,
 * whatever path prefix a proxy adds.
 */
const dataAddress = new URL("../data/", import.meta.url);

/** URL of the page itself, without a query and a fragment. */
export const pageAddress = new URL("../", import.meta.url).href;

/** An error response of the server, or a failed connection; its message is shown to the user. */
export class RequestError extends Error {
  override readonly name = "RequestError";

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
  get isTemporary(): boolean {
    return this.status === 0 || this.status > 500;
  }
}

/** Names of the routes that answer with JSON. */
export type JsonRouteName = {
  [Name in RouteName]: Answers[Name] extends Response | undefined ? never : Name;
}[RouteName];

/** Milliseconds before the retry of a request that failed temporarily. */
export const RETRY_MILLISECONDS = 2_000;

/** The parts of a request to any route: the parameters of its path, its query and its JSON body. */
interface RequestParts {
  readonly [parameter: string]: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
}

/** Returns the URL of a route. Parameters of the query that are null or undefined are left out. */
export function urlOf<Name extends RouteName>(name: Name, parts: Requests[Name]): string {
  const { query = {}, ...parameters }: RequestParts = parts;
  const [, path = ""] = routes[name].at.split(" /");
  const given = Object.entries(query).filter(([, value]) => value != null);
  const url = new URL(
    path.replace(/:(\w+)/g, (_, key) => encodeURIComponent(String(parameters[key]))),
    dataAddress,
  );
  url.search = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return url.href;
}

/** Headers of every request that changes something. A page of another origin cannot send them. */
export const CONSOLE_HEADERS: Readonly<Record<string, string>> = { "x-transcribe-console": "1" };

let sessionEnded = () => {};

/** Sets the listener that is called whenever a response shows that the session has ended. */
export function onSessionEnd(listener: () => void): void {
  sessionEnded = listener;
}

let roleRefused = () => {};

/** Sets the listener that is called whenever the person's role does not allow a request: it may have changed. */
export function onRoleRefused(listener: () => void): void {
  roleRefused = listener;
}

/**
 * Sends a request to a route of the server.
 * @throws {RequestError} with a message for the user; DOMException if the signal aborted the request
 */
export async function request<Name extends RouteName>(
  name: Name,
  parts: Requests[Name],
  signal?: AbortSignal,
): Promise<Response> {
  const { body }: RequestParts = parts;
  const [method = "GET"] = routes[name].at.split(" ");
  const headers = { ...CONSOLE_HEADERS, ...(body === undefined ? {} : { "Content-Type": "application/json" }) };
  let response: Response;
  try {
    response = await fetch(urlOf(name, parts), {
      method,
      headers,
      credentials: "same-origin",
      cache: "no-store",
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestError(0, "unreachable", strings.unreachable);
  }
  if (!response.ok) throw requestErrorOf(response.status, await response.text());
  return response;
}

/**
 * Sends a request and parses the JSON response.
 * @throws as request
 */
export async function call<Name extends JsonRouteName>(
  name: Name,
  parts: Requests[Name],
  signal?: AbortSignal,
): Promise<Answers[Name]> {
  return await (await request(name, parts, signal)).json();
}

/** Returns the message of an error for the user. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Parses an error response of the server. */
export function requestErrorOf(status: number, body: string): RequestError {
  const { code, message } = errorIn(body) ?? { code: "unknown", message: strings.unknownAnswer(status) };
  if (status === 401 && code === "not_signed_in") sessionEnded();
  if (code === "not_allowed") roleRefused();
  return new RequestError(status, code, message);
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

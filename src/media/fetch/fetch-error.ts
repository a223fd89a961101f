/** Why a recording could not be fetched. A closed list. */
export type FetchFault =
  /** The link or a redirect's target is none that is followed: not http(s), with credentials, from https down to http. */
  | "fetch_bad_url"
  /** A host, or an address that it resolves to, that is not public and not allowed by the operator. */
  | "fetch_blocked_address"
  /** The host's name does not resolve, or not in time. */
  | "fetch_dns_failed"
  /** No connection to any of the host's addresses. */
  | "fetch_connect_failed"
  /** No TLS session: a certificate that is not trusted, of another name or expired, or no TLS at all. */
  | "fetch_tls_failed"
  /** What came back is not HTTP, or its header is over the limit. */
  | "fetch_bad_answer"
  /** A status other than 200, after all redirects. */
  | "fetch_http_status"
  /** More redirects than are followed. */
  | "fetch_redirects"
  /** The content is compressed although that was not asked for. */
  | "fetch_encoding"
  /** A playlist or another list of links. */
  | "fetch_playlist"
  /** A web page or another document of markup: a login, a player, an error page with status 200. */
  | "fetch_web_page"
  /** Not one byte of content. */
  | "fetch_empty"
  /** More bytes than allowed, announced or sent. */
  | "fetch_too_large"
  /** The host stalled, or sent less than the least average speed. */
  | "fetch_too_slow"
  /** The limit on the whole time passed. */
  | "fetch_timed_out"
  /** The connection was lost before the end of what was announced. */
  | "fetch_interrupted"
  /** The disk is full, or the file could not be written. */
  | "disk_full";

/**
 * The error of this folder: a fault out of the closed list, and a message for the operator (never a client's). The message
 * names the host, and never the rest of a link, in which people pass secrets.
 */
export class FetchError extends Error {
  override readonly name = "FetchError";

  constructor(
    readonly fault: FetchFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

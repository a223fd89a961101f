/** Reasons why a fetch failed. A closed list. */
export type FetchFault =
  /**
   * The link or the target of a redirect is not supported: not http(s), with credentials, or from https down to http.
   */
  | "fetch_bad_url"
  /** A host or one of its addresses is not public and not permitted by the operator. */
  | "fetch_blocked_address"
  /** The host's name does not resolve, or not within the time limit. */
  | "fetch_dns_failed"
  /** No connection could be opened to any of the host's addresses. */
  | "fetch_connect_failed"
  /** No TLS session: a certificate that is untrusted, for another name or expired, or a host without TLS. */
  | "fetch_tls_failed"
  /** The response is not HTTP, or its header is over the limit. */
  | "fetch_bad_answer"
  /** A status other than 200, after all redirects. */
  | "fetch_http_status"
  /** More redirects than the limit. */
  | "fetch_redirects"
  /** The content is compressed although the request did not ask for it. */
  | "fetch_encoding"
  /** A playlist or another list of links. */
  | "fetch_playlist"
  /** A web page or another document of markup: a login, a player, an error page with status 200. */
  | "fetch_web_page"
  /** The content is empty. */
  | "fetch_empty"
  /** More bytes than permitted, either announced or sent. */
  | "fetch_too_large"
  /** The host stalled, or sent less than the minimum average speed. */
  | "fetch_too_slow"
  /** The limit on the total time passed. */
  | "fetch_timed_out"
  /** The connection was lost before all announced bytes arrived. */
  | "fetch_interrupted"
  /** The disk is full, or the file could not be written. */
  | "disk_full";

/**
 * The error of this folder: a fault from the closed list, and a message for the operator, which is never sent to a
 * client. The message contains only the host of a link, because the rest of a link may contain secrets.
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

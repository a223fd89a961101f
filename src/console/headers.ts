/**
 * Content security policy of the console's page. The page may load files from this server and call it. It may not use
 * inline scripts or styles, load anything from other origins, be framed, or submit forms.
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "media-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/**
 * Headers of every response of the console. All responses of the server already have `nosniff`, and `no-store` unless
 * the route sets another policy.
 */
const consoleHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": contentPolicy,
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // For browsers that do not support frame-ancestors.
  "X-Frame-Options": "DENY",
};

export function withConsoleHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(consoleHeaders)) response.headers.set(name, value);
  return response;
}

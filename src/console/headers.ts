/**
 * What the console's page may do: load what this server has, and call it. No script or style within the page, nothing from
 * elsewhere, no frame around it, no form that leads away.
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

/** Headers of every answer of the console; `nosniff`, and `no-store` where nothing else is said, all answers of the server have. */
const consoleHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": contentPolicy,
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  // For browsers that know no frame-ancestors.
  "X-Frame-Options": "DENY",
};

export function withConsoleHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(consoleHeaders)) response.headers.set(name, value);
  return response;
}

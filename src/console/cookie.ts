import type { ConsoleSession } from "./entry/index.ts";

const name = "transcribe_console";

/** The cookie of a request that opens a session; null where there is none. */
export function sessionSecret(request: Request): string | null {
  return new Bun.CookieMap(request.headers.get("cookie") ?? "").get(name);
}

/**
 * `Set-Cookie` for a session. Without a path a cookie is for the folder in which it was set (RFC 6265, 5.1.4), so for
 * `/console/data` as the browser sees it, whatever a proxy puts before it.
 * @param isSecure whether the browser speaks HTTPS
 */
export function sessionCookie(secret: string, { endsAt }: ConsoleSession, now: number, isSecure: boolean): string {
  return cookie(secret, Math.max(0, Math.floor((endsAt - now) / 1000)), isSecure);
}

/** `Set-Cookie` that has the browser forget it. */
export function noCookie(isSecure: boolean): string {
  return cookie("", 0, isSecure);
}

function cookie(value: string, seconds: number, isSecure: boolean): string {
  return `${name}=${value}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
}

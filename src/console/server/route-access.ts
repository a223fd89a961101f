import { ConsoleError } from "./errors.ts";

/** Access to a route: for everybody, even without a session; or for people with at least this role. */
export type Access = "public" | "reader" | "member" | "operator";

/**
 * Every data route of the console, with the least role that may use it. The library decides which recordings a person
 * sees and changes; routes without a recording decide it here. A route that is missing here is a fault of the program,
 * which requireDeclared reports.
 */
export const routeAccess: Readonly<Record<string, Access>> = {
  "GET /sign-in-methods": "public",
  "POST /session": "public",
  "POST /provider-sign-in": "public",
  "GET /session": "reader",
  "DELETE /session": "reader",
  "GET /overview": "operator",
  "GET /events": "operator",
  "GET /upload-options": "reader",
  "GET /recordings": "reader",
  "POST /recordings": "member",
  "GET /recordings/:id": "reader",
  "DELETE /recordings/:id": "member",
  "GET /recordings/:id/segments": "reader",
  "GET /recordings/:id/outline": "reader",
  "GET /recordings/:id/find": "reader",
  "GET /recordings/:id/playback": "reader",
  "GET /recordings/:id/audio": "reader",
  "GET /recordings/:id/waveform": "reader",
  "PUT /recordings/:id/speakers": "member",
  "GET /recordings/:id/processing": "member",
  "POST /recordings/:id/processing": "member",
  "DELETE /recordings/:id/processing": "member",
  "POST /recordings/:id/corrections": "member",
  "GET /recordings/:id/changes": "reader",
  "GET /recordings/:id/revisions": "reader",
  "GET /recordings/:id/comparison": "reader",
  "GET /recordings/:id/replacements": "reader",
  "GET /recordings/:id/exports/:format": "reader",
  "POST /recordings/:id/voices": "member",
  "POST /recordings/:id/proposals": "member",
  "GET /accounts": "operator",
  "GET /accounts/:id/voices": "operator",
  "PUT /voices/:id": "operator",
  "DELETE /voices/:id": "operator",
  "POST /keys": "operator",
  "DELETE /keys/:id": "operator",
};

const declared = Object.entries(routeAccess).map(([route, access]) => ({ pattern: patternOf(route), access }));

/** Returns who may use a path. An unknown one is for operators, who learn that there is none. */
export function accessOf(method: string, path: string): Access {
  const text = `${method === "HEAD" ? "GET" : method} ${path}`;
  return declared.find(({ pattern }) => pattern.test(text))?.access ?? "operator";
}

/** Throws if a role is lower than a route needs. @throws {ConsoleError} 403 */
export function requireRole(role: Exclude<Access, "public">, access: Access): void {
  const ranking: readonly Access[] = ["public", "reader", "member", "operator"];
  if (ranking.indexOf(role) >= ranking.indexOf(access)) return;
  throw new ConsoleError("not_allowed", "Your role does not allow this. Ask the operator of the server.");
}

/**
 * Requires that routes and declarations agree.
 * @param routes `GET /path`, without the common prefix of the data routes
 * @throws {Error} that names a route without a declaration, or the reverse
 */
export function requireDeclared(routes: readonly string[]): void {
  const undeclared = routes.find((route) => routeAccess[route] === undefined);
  if (undeclared !== undefined) throw new Error(`nobody decided who may use the route ${undeclared} of the console`);
  const unused = Object.keys(routeAccess).find((route) => !routes.includes(route));
  if (unused !== undefined) throw new Error(`the console has no route ${unused}`);
}

function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/:\w+/g, "[^/]+")}$`);
}

import { useEffect, useState } from "preact/hooks";

/** What of all recordings is listed. */
export interface ListFilter {
  /** One status, or empty for all. */
  readonly status: string;
  readonly account: string;
  readonly workspace: string;
  /** Words to search for. */
  readonly words: string;
}

export type Route =
  | { readonly screen: "overview" }
  | { readonly screen: "accounts" }
  | { readonly screen: "recordings"; readonly filter: ListFilter }
  | {
      readonly screen: "recording";
      readonly id: string;
      /** Seconds to begin at. */
      readonly at: number | null;
      readonly find: string;
    };

export const everything: ListFilter = { status: "", account: "", workspace: "", words: "" };

/** Reads the part of the address behind `#`; what it can't read is the overview. */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [screen, id] = path.split("/").map(decoded);
  const given = new URLSearchParams(query);
  const text = (name: string) => given.get(name) ?? "";
  if (screen === "recordings" && id) {
    const at = Number.parseFloat(text("at"));
    return { screen: "recording", id, at: at >= 0 ? at : null, find: text("find") };
  }
  if (screen === "recordings") {
    const filter = { status: text("status"), account: text("account"), workspace: text("workspace") };
    return { screen, filter: { ...filter, words: text("q") } };
  }
  return screen === "accounts" ? { screen } : { screen: "overview" };
}

/** The address of a route, for links. */
export function addressOf(route: Route): string {
  if (route.screen === "overview") return "#/";
  if (route.screen === "accounts") return "#/accounts";
  if (route.screen === "recording") {
    const query = queryOf({ at: route.at === null ? "" : String(route.at), find: route.find });
    return `#/recordings/${encodeURIComponent(route.id)}${query}`;
  }
  const { words, ...rest } = route.filter;
  return `#/recordings${queryOf({ ...rest, q: words })}`;
}

/** The address of a recording, from its beginning. */
export function recordingAddress(id: string, at: number | null = null, find = ""): string {
  return addressOf({ screen: "recording", id, at, find });
}

/** `?name=value&…` of those that are not empty; empty where all are. */
export function queryOf(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** The route that the address names, as it changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const change = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return route;
}

/** Puts a route into the address; `replace` leaves no way back to the one before. */
export function goTo(route: Route, replace = false): void {
  if (replace) {
    history.replaceState(null, "", addressOf(route));
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = addressOf(route);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

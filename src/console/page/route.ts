import { useEffect, useState } from "preact/hooks";

/** A filter of the list of recordings. */
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
  | { readonly screen: "live" }
  | { readonly screen: "accounts" }
  /** The voices of an account. */
  | { readonly screen: "voices"; readonly account: string }
  /** The words that an account always writes in one way. */
  | { readonly screen: "replacements"; readonly account: string }
  /** The webhooks of an account. */
  | { readonly screen: "webhooks"; readonly account: string }
  | { readonly screen: "recordings"; readonly filter: ListFilter }
  | {
      readonly screen: "recording";
      readonly id: string;
      /** Start position in seconds. */
      readonly at: number | null;
      readonly find: string;
    };

export const everything: ListFilter = { status: "", account: "", workspace: "", words: "" };

/** Parses the URL fragment after `#`. An unknown fragment means the overview. */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [screen, id, part] = path.split("/").map(decoded);
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
  if (screen === "accounts" && id && (part === "voices" || part === "webhooks" || part === "replacements")) {
    return { screen: part, account: id };
  }
  return screen === "accounts" || screen === "live" ? { screen } : { screen: "overview" };
}

/** Returns the URL of a route, for links. */
export function addressOf(route: Route): string {
  if (route.screen === "overview") return "#/";
  if (route.screen === "accounts") return "#/accounts";
  if (route.screen === "live") return "#/live";
  if (route.screen === "voices" || route.screen === "webhooks" || route.screen === "replacements") {
    return `#/accounts/${encodeURIComponent(route.account)}/${route.screen}`;
  }
  if (route.screen === "recording") {
    const query = queryOf({ at: route.at === null ? "" : String(route.at), find: route.find });
    return `#/recordings/${encodeURIComponent(route.id)}${query}`;
  }
  const { words, ...rest } = route.filter;
  return `#/recordings${queryOf({ ...rest, q: words })}`;
}

/**
 * Returns the URL of a recording, by default from its beginning.
 * @param at start position in seconds
 * @param find text to find in the transcript
 */
export function recordingAddress(id: string, at: number | null = null, find = ""): string {
  return addressOf({ screen: "recording", id, at, find });
}

/** Returns a query string `?name=value&…` of the values that are not empty; an empty string if all are. */
export function queryOf(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** Returns the current route of the URL, updated when the URL changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const change = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  return route;
}

/** Changes the URL to a route. `replace` replaces the current history entry. */
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

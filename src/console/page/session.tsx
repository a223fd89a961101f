import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Session, SignInRequest } from "../contract/index.ts";
import { storeTexts } from "./recording/editing/unfinished.ts";
import { call, pageAddress } from "./server.ts";

const context = createContext<Session | null>(null);

/** Provides the session of the person who is signed in to all screens. */
export function SessionProvider({ session, children }: { session: Session; children: ComponentChildren }) {
  return <context.Provider value={session}>{children}</context.Provider>;
}

/** The person who is signed in. The page hides what the role may not do; the server refuses it. */
export interface Viewer {
  readonly user: Session["user"];
  /** Identifies the person as the owner of corrections that are not saved; empty for an operator without a user. */
  readonly owner: string;
  /** Whether the person sees the machine, the accounts and the keys. */
  readonly isOperator: boolean;
  /** Whether the person uploads, deletes and changes recordings. */
  readonly mayChange: boolean;
  /** Whether the person may transcribe live. */
  readonly mayGoLive: boolean;
}

/** Returns the person who is signed in. */
export function useViewer(): Viewer {
  const session = useContext(context);
  if (session === null) throw new Error("a screen is shown without a session");
  const { user, role, live } = session;
  return {
    user,
    owner: user?.email ?? user?.name ?? "",
    isOperator: role === "operator",
    mayChange: role !== "reader",
    mayGoLive: live && role !== "reader",
  };
}

/** Signs in. @throws {RequestError} */
export function createSession(body: SignInRequest): Promise<Session> {
  return call("signIn", { body });
}

/**
 * Signs in with the link that `transcribe console` prints, if the page's URL is such a link. The token is in the
 * fragment after `#`, so that no log contains it. It is removed from the URL before it is sent.
 * @returns null if the URL is no sign-in link
 * @throws {RequestError}
 */
export async function signInByLink(): Promise<Session | null> {
  const token = /^#enter=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, "", "#/");
  return await createSession({ token });
}

const RETURN_KEY = "transcribe-console-return";

/** Sends the browser to the sign-in provider, which sends it back to this page. @throws {RequestError} */
export async function leaveForProvider(): Promise<void> {
  const { location: address } = await call("beginProviderSignIn", { body: { page: pageAddress } });
  sessionStorage.setItem(RETURN_KEY, location.hash);
  storeTexts();
  location.assign(address);
}

/**
 * Finishes the sign-in if the provider has sent the browser back. The query is removed from the URL before it is sent. The
 * session's cookie is set by a request of this page, because a browser does not send a `SameSite=Strict` cookie after a
 * navigation that another site began.
 * @returns null if the URL has no response of the provider
 * @throws {RequestError}
 */
export async function finishProviderSignIn(): Promise<Session | null> {
  const { search } = location;
  const query = new URLSearchParams(search);
  if (!query.has("state") || !(query.has("code") || query.has("error"))) return null;
  const screen = sessionStorage.getItem(RETURN_KEY) ?? "";
  sessionStorage.removeItem(RETURN_KEY);
  history.replaceState(null, "", `${location.pathname}${screen.startsWith("#/") ? screen : "#/"}`);
  return await createSession({ provider_query: search });
}

/**
 * Ends the session.
 * @returns the address at which the person signs out of the provider, too; null if there is none
 * @throws {RequestError}
 */
export async function signOut(): Promise<string | null> {
  const { location: address } = await call("signOut", { query: { page: pageAddress } });
  return address;
}

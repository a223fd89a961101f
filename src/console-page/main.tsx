import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/dialog.css";
import "./style/upload.css";
import "./style/overview.css";
import "./style/recordings.css";
import "./style/recording.css";
import "./style/transcript.css";
import "./style/player.css";
import "./style/accounts.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../console/contract.ts";
import { Announcer } from "./announce.tsx";
import { OverviewProvider } from "./overview/live-overview.tsx";
import { messageOf, onSessionEnd, RETRY_MILLISECONDS, RequestError, request, requestJson } from "./server.ts";
import { Shell } from "./shell.tsx";
import { SignIn, signInByLink } from "./sign-in.tsx";
import { strings } from "./strings.ts";

type SessionState =
  | { readonly is: "unknown" }
  | { readonly is: "out"; readonly why: string | null }
  | { readonly is: "in" };

/** Renders the whole console, or the sign-in screen without a session. */
function App() {
  const [state, setState] = useState<SessionState>({ is: "unknown" });
  useEffect(() => {
    onSessionEnd(() =>
      setState((before) => (before.is === "in" ? { is: "out", why: strings.signIn.expired } : before)),
    );
    const signIn = async () => {
      try {
        if (!(await signInByLink())) await requestJson<Session>("session");
        setState({ is: "in" });
      } catch (error) {
        const isPlain = error instanceof RequestError && error.code === "not_signed_in";
        setState({ is: "out", why: isPlain ? null : messageOf(error) });
        if (error instanceof RequestError && error.isTemporary) setTimeout(() => void signIn(), RETRY_MILLISECONDS);
      }
    };
    void signIn();
    // Handles a sign-in link that the user pastes into a tab that already shows the console.
    const change = () => location.hash.startsWith("#enter=") && void signIn();
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  const signOut = async () => {
    try {
      await request("session", { method: "DELETE" });
      setState({ is: "out", why: strings.signIn.signedOut });
    } catch (error) {
      // The session has already ended by itself.
      if (error instanceof RequestError && error.code === "not_signed_in") return;
      setState({ is: "out", why: strings.signIn.signOutFailed(messageOf(error)) });
    }
  };
  return (
    <>
      {state.is === "out" && <SignIn why={state.why} onSignIn={() => setState({ is: "in" })} />}
      {state.is === "in" && (
        <OverviewProvider>
          <Shell onSignOut={() => void signOut()} />
        </OverviewProvider>
      )}
      <Announcer />
    </>
  );
}

const root = document.getElementById("app");
if (root !== null) render(<App />, root);

import "./style/base.css";
import "./style/shell.css";
import "./style/parts.css";
import "./style/dialog.css";
import "./style/upload.css";
import "./style/overview.css";
import "./style/recordings.css";
import "./style/recording.css";
import "./style/transcript.css";
import "./style/editing.css";
import "./style/player.css";
import "./style/live.css";
import "./style/accounts.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../contract/index.ts";
import { Announcer } from "./announce.tsx";
import { OverviewProvider } from "./overview/live-overview.tsx";
import { call, messageOf, onRoleRefused, onSessionEnd, RETRY_MILLISECONDS, RequestError } from "./server.ts";
import { finishProviderSignIn, SessionProvider, signInByLink, signOut } from "./session.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";
import { strings } from "./strings.ts";

type SessionState =
  | { readonly is: "unknown" }
  | { readonly is: "out"; readonly why: string | null }
  | { readonly is: "in"; readonly session: Session };

/** Renders the whole console, or the sign-in screen without a session. */
function App() {
  const [state, setState] = useState<SessionState>({ is: "unknown" });
  useEffect(() => {
    onSessionEnd(() =>
      setState((before) => (before.is === "in" ? { is: "out", why: strings.signIn.expired } : before)),
    );
    const readRole = async () => {
      const session = await call("session", {});
      setState((before) => (before.is === "in" ? { is: "in", session } : before));
    };
    // After a failure, the next refusal reads the role.
    onRoleRefused(() => void readRole().catch(() => {}));
    const signIn = async () => {
      try {
        const entered = (await finishProviderSignIn()) ?? (await signInByLink());
        setState({ is: "in", session: entered ?? (await call("session", {})) });
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
  const leave = async () => {
    try {
      const address = await signOut();
      if (address !== null) location.assign(address);
      setState({ is: "out", why: strings.signIn.signedOut });
    } catch (error) {
      // The session has already ended by itself.
      if (error instanceof RequestError && error.code === "not_signed_in") return;
      setState({ is: "out", why: strings.signIn.signOutFailed(messageOf(error)) });
    }
  };
  return (
    <>
      {state.is === "out" && <SignIn why={state.why} onSignIn={(session) => setState({ is: "in", session })} />}
      {state.is === "in" && (
        <SessionProvider session={state.session}>
          <OverviewProvider>
            <Shell onSignOut={() => void leave()} />
          </OverviewProvider>
        </SessionProvider>
      )}
      <Announcer />
    </>
  );
}

const root = document.getElementById("app");
if (root !== null) render(<App />, root);

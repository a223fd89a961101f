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
import { ask, askResponse, Refusal, retryMilliseconds, troubleOf, whenSignedOut } from "./server.ts";
import { Shell } from "./shell.tsx";
import { enterByLink, SignIn } from "./sign-in.tsx";
import { strings } from "./strings.ts";

const place = document.getElementById("app");
if (place !== null) render(<App />, place);

type Standing =
  | { readonly is: "unknown" }
  | { readonly is: "out"; readonly why: string | null }
  | { readonly is: "in"; readonly session: Session };

/** Renders the whole console, or the sign-in screen without a session. */
export function App() {
  const [standing, setStanding] = useState<Standing>({ is: "unknown" });
  useEffect(() => {
    whenSignedOut(() =>
      setStanding((before) => (before.is === "in" ? { is: "out", why: strings.signIn.ended } : before)),
    );
    const look = async () => {
      try {
        const session = (await enterByLink()) ?? (await ask<Session>("session"));
        setStanding({ is: "in", session });
      } catch (error) {
        const isPlain = error instanceof Refusal && error.code === "not_signed_in";
        setStanding({ is: "out", why: isPlain ? null : troubleOf(error) });
        if (error instanceof Refusal && error.mayPass) setTimeout(() => void look(), retryMilliseconds);
      }
    };
    void look();
    // Handles a sign-in link that the user pastes into a tab that already shows the console.
    const change = () => location.hash.startsWith("#enter=") && void look();
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  const leave = async () => {
    try {
      await askResponse("session", { method: "DELETE" });
      setStanding({ is: "out", why: strings.signIn.left });
    } catch (error) {
      // The session has already ended by itself.
      if (error instanceof Refusal && error.code === "not_signed_in") return;
      setStanding({ is: "out", why: strings.signIn.notLeft(troubleOf(error)) });
    }
  };
  return (
    <>
      {standing.is === "out" && <SignIn why={standing.why} onEnter={(session) => setStanding({ is: "in", session })} />}
      {standing.is === "in" && (
        <OverviewProvider>
          <Shell onLeave={() => void leave()} />
        </OverviewProvider>
      )}
      <Announcer />
    </>
  );
}

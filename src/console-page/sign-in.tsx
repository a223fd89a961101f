import { useEffect, useRef, useState } from "preact/hooks";
import type { Entrance, Session } from "../console/contract.ts";
import { Mark, Told } from "./parts/index.ts";
import { ask, troubleOf } from "./server.ts";
import { strings } from "./strings.ts";
import { useAnswer } from "./use-answer.ts";

const texts = strings.signIn;

/**
 * Renders the sign-in screen.
 * @param props.why message after a sign-out or a failed sign-in link
 */
export function SignIn({ why, onEnter }: { why: string | null; onEnter: (session: Session) => void }) {
  const { value: entrance } = useAnswer<Entrance>("entrance");
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isEntering, setEntering] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = texts.title;
    field.current?.focus();
  }, []);
  const enter = async (event: Event) => {
    event.preventDefault();
    setEntering(true);
    try {
      onEnter(await enterByPassword(field.current?.value ?? ""));
    } catch (error) {
      setTrouble(troubleOf(error));
      setEntering(false);
      field.current?.select();
    }
  };
  return (
    <main class="sign-in">
      <h1>
        <Mark /> {strings.product}
      </h1>
      <Told trouble={trouble ?? why} />
      <h2>{texts.byLink}</h2>
      <p>{texts.byLinkHow}</p>
      <pre>
        <code>transcribe console</code>
      </pre>
      <p class="soft">{texts.byLinkOnce}</p>
      {entrance?.password && (
        <form onSubmit={(event) => void enter(event)}>
          <h2>{texts.byPassword}</h2>
          <label>
            {texts.password}
            <input ref={field} type="password" autocomplete="current-password" required maxLength={1024} />
          </label>
          <button type="submit" class="main" disabled={isEntering}>
            {texts.enter}
          </button>
        </form>
      )}
    </main>
  );
}

/**
 * Signs in with the link that `transcribe console` prints, if the page's URL is such a link. The token is in the
 * fragment after `#`, so that no log contains it. It is removed from the URL before it is sent.
 * @returns null if the URL is no sign-in link
 */
export async function enterByLink(): Promise<Session | null> {
  const token = /^#enter=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, "", "#/");
  return await ask<Session>("session", { method: "POST", body: { token } });
}

/**
 * Signs in with the operator's password.
 * @throws {Refusal}
 */
export async function enterByPassword(password: string): Promise<Session> {
  return await ask<Session>("session", { method: "POST", body: { password } });
}

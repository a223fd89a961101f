import { useEffect, useRef } from "preact/hooks";
import type { Session, SignInMethods, SignInRequest } from "../console/contract.ts";
import { Logo, Problem } from "./parts/index.ts";
import { requestJson } from "./server.ts";
import { strings } from "./strings.ts";
import { useAttempt, useData } from "./use-data.ts";

const texts = strings.signIn;

/**
 * Renders the sign-in screen.
 * @param props.why message after a sign-out or a failed sign-in link
 */
export function SignIn({ why, onSignIn }: { why: string | null; onSignIn: () => void }) {
  const { value: methods } = useData<SignInMethods>("sign-in-methods");
  const { problem, isRunning, attempt } = useAttempt();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = texts.title;
    field.current?.focus();
  }, []);
  useEffect(() => {
    if (problem !== null) field.current?.select();
  }, [problem]);
  const submit = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      await createSession({ password: field.current?.value ?? "" });
      onSignIn();
    });
  };
  return (
    <main class="sign-in">
      <h1>
        <Logo /> {strings.product}
      </h1>
      <Problem problem={problem ?? why} />
      <h2>{texts.byLink}</h2>
      <p>{texts.linkCommand}</p>
      <pre>
        <code>transcribe console</code>
      </pre>
      <p class="soft">{texts.linkUse}</p>
      {methods?.password && (
        <form onSubmit={submit}>
          <h2>{texts.byPassword}</h2>
          <label>
            {texts.password}
            <input ref={field} type="password" autocomplete="current-password" required maxLength={1024} />
          </label>
          <button type="submit" class="main" disabled={isRunning}>
            {texts.submit}
          </button>
        </form>
      )}
    </main>
  );
}

/**
 * Signs in with the link that `transcribe console` prints, if the page's URL is such a link. The token is in the
 * fragment after `#`, so that no log contains it. It is removed from the URL before it is sent.
 * @returns false if the URL is no sign-in link
 * @throws {RequestError}
 */
export async function signInByLink(): Promise<boolean> {
  const token = /^#enter=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(null, "", "#/");
  await createSession({ token });
  return true;
}

async function createSession(body: SignInRequest): Promise<void> {
  await requestJson<Session>("session", { method: "POST", body });
}

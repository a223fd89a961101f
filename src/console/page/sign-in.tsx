import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Session, SignInRequest } from "../contract/index.ts";
import { Logo, Problem } from "./parts/index.ts";
import { createSession, leaveForProvider } from "./session.tsx";
import { strings } from "./strings.ts";
import { useAttempt, useData } from "./use-data.ts";

const texts = strings.signIn;

interface SignInProps {
  /** Message after a sign-out or a failed sign-in. */
  readonly why: string | null;
  readonly onSignIn: (session: Session) => void;
}

/** Renders the sign-in screen: the provider, users with a password, and the two ways of operators. */
export function SignIn({ why, onSignIn }: SignInProps) {
  const { value: methods, problem, retry } = useData("signInMethods", {});
  useEffect(() => {
    document.title = texts.title;
  }, []);
  const forPeople = methods !== null && (methods.provider !== null || methods.users);
  const ways = (
    <>
      <h2>{texts.byLink}</h2>
      <p>{texts.linkCommand}</p>
      <pre>
        <code>transcribe console</code>
      </pre>
      <p class="soft">{texts.linkUse}</p>
      {methods?.password && (
        <PasswordForm title={texts.byPassword} onSignIn={onSignIn} isFirst={!forPeople}>
          <Password label={texts.password} />
        </PasswordForm>
      )}
    </>
  );
  return (
    <main class="sign-in">
      <h1>
        <Logo /> {strings.product}
      </h1>
      <Problem problem={why} />
      {methods === null && <Problem problem={problem} retry={retry} />}
      {methods?.provider && <ProviderButton name={methods.provider} />}
      {methods?.users && (
        <PasswordForm title={texts.byUser} onSignIn={onSignIn} isFirst={methods.provider === null}>
          <label>
            {texts.email}
            <input name="email" type="email" autocomplete="username" required maxLength={254} />
          </label>
          <Password label={texts.userPassword} />
        </PasswordForm>
      )}
      {methods !== null && (forPeople ? <Others>{ways}</Others> : ways)}
    </main>
  );
}

function Others({ children }: { children: ComponentChildren }) {
  return (
    <details>
      <summary>{texts.byOperator}</summary>
      {children}
    </details>
  );
}

function ProviderButton({ name }: { name: string }) {
  const { problem, isRunning, attempt } = useAttempt();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <>
      <Problem problem={problem} />
      <button
        type="button"
        class="main"
        ref={button}
        disabled={isRunning}
        onClick={() => void attempt(leaveForProvider)}
      >
        {texts.byProvider(name)}
      </button>
    </>
  );
}

function Password({ label }: { label: string }) {
  return (
    <label>
      {label}
      <input name="password" type="password" autocomplete="current-password" required maxLength={1024} />
    </label>
  );
}

interface PasswordFormProps {
  readonly title: string;
  readonly onSignIn: (session: Session) => void;
  /** Whether its first field gets the focus. */
  readonly isFirst: boolean;
  /** The fields, whose names are those of the request. */
  readonly children: ComponentChildren;
}

function PasswordForm({ title, onSignIn, isFirst, children }: PasswordFormProps) {
  const { problem, isRunning, attempt } = useAttempt();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isFirst) form.current?.querySelector("input")?.focus();
  }, [isFirst]);
  useEffect(() => {
    if (problem !== null) form.current?.querySelector<HTMLInputElement>("[type=password]")?.select();
  }, [problem]);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = new FormData(form.current ?? undefined);
    const [email, password] = [given.get("email"), String(given.get("password") ?? "")];
    const body: SignInRequest = email === null ? { password } : { email: String(email), password };
    void attempt(async () => onSignIn(await createSession(body)));
  };
  return (
    <form ref={form} onSubmit={submit}>
      <h2>{title}</h2>
      <Problem problem={problem} />
      {children}
      <button type="submit" class="main" disabled={isRunning}>
        {texts.submit}
      </button>
    </form>
  );
}

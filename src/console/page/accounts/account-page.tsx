import type { ComponentChildren } from "preact";
import { useTitle } from "../parts/index.ts";
import { addressOf } from "../route.ts";

interface AccountPageProps {
  readonly texts: {
    readonly name: string;
    readonly title: (account: string) => string;
    readonly back: string;
  };
  /** Name of the account; null until it is known. */
  readonly account: string | null;
  /** Stands next to the title. */
  readonly action?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Shows something of one account, with a link back to the accounts. */
export function AccountPage({ texts, account, action, children }: AccountPageProps) {
  const title = account === null ? texts.name : texts.title(account);
  useTitle(title);
  const heading = <h1>{title}</h1>;
  return (
    <div class="accounts">
      <p class="back-link">
        <a href={addressOf({ screen: "accounts" })}>{texts.back}</a>
      </p>
      {action === undefined ? (
        heading
      ) : (
        <div class="head">
          {heading}
          {action}
        </div>
      )}
      {children}
    </div>
  );
}

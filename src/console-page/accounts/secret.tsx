import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../announce.tsx";
import { strings } from "../strings.ts";

const texts = strings.accounts;

/** Shows the secret of a key to copy now: it cannot be shown again. */
export function Secret({ secret }: { secret: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const copy = async () => {
    field.current?.select();
    // Browsers provide the clipboard API only over HTTPS or on localhost. Elsewhere the user can copy the selected text
    // by hand.
    const isDone = await navigator.clipboard?.writeText(secret).then(
      () => true,
      () => false,
    );
    setCopied(isDone === true);
    announce(isDone ? texts.copied : texts.copyByHand);
  };
  return (
    <>
      <p>{texts.once}</p>
      <div class="secret">
        <input ref={field} readOnly value={secret} aria-label={texts.key} onFocus={() => field.current?.select()} />
        <button type="button" onClick={() => void copy()}>
          {isCopied ? texts.copied : texts.copy}
        </button>
      </div>
    </>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../announce.tsx";
import { strings } from "../strings.ts";

const texts = strings.accounts;

/** A key, to be copied now: nobody can show it again. */
export function Secret({ secret }: { secret: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const copy = async () => {
    field.current?.select();
    // Browsers offer the clipboard to pages that came over HTTPS or from this machine; what is selected can be copied anywhere.
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

import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../announce.tsx";
import { Button, Dialog } from "../parts/index.ts";
import { strings } from "../strings.ts";

const texts = strings.accounts;

interface SecretDialogProps {
  readonly title: string;
  /** What the user must do with the secret now. */
  readonly means: string;
  /** Name of the secret. */
  readonly label: string;
  readonly secret: string;
  /** Label of the button that closes the dialog. */
  readonly done: string;
  readonly onClose: () => void;
}

/** Shows a secret to copy now: it cannot be shown again. */
export function SecretDialog({ title, means, label, secret, done, onClose }: SecretDialogProps) {
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
    <Dialog title={title} onClose={onClose}>
      <p>{means}</p>
      <div class="secret">
        <input ref={field} readOnly value={secret} aria-label={label} onFocus={() => field.current?.select()} />
        <Button look={null} text={isCopied ? texts.copied : texts.copy} onClick={() => void copy()} />
      </div>
      <div class="actions">
        <Button look="main" text={done} onClick={onClose} />
      </div>
    </Dialog>
  );
}

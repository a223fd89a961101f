import { useState } from "preact/hooks";
import { troubleOf } from "../server.ts";
import { Actions } from "./actions.tsx";
import { Dialog } from "./dialog.tsx";
import { Told } from "./told.tsx";

interface ConfirmProps {
  readonly title: string;
  /** What it would do. */
  readonly means: string;
  /** On the button that does it. */
  readonly action: string;
  /** Does it; what it throws is told, and the dialog stays. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks once more before something that can't be undone. */
export function Confirm({ title, means, action, onConfirm, onClose }: ConfirmProps) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const confirm = () => onConfirm().catch((error: unknown) => setTrouble(troubleOf(error)));
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{means}</p>
      <Told trouble={trouble} />
      <Actions onCancel={onClose}>
        <button type="button" class="main bad" onClick={() => void confirm()}>
          {action}
        </button>
      </Actions>
    </Dialog>
  );
}

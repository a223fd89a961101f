import { useState } from "preact/hooks";
import { troubleOf } from "../server.ts";
import { Actions } from "./actions.tsx";
import { Dialog } from "./dialog.tsx";
import { Told } from "./told.tsx";

interface ConfirmProps {
  readonly title: string;
  /** Consequence of the action. */
  readonly means: string;
  /** Label of the button that performs the action. */
  readonly action: string;
  /** Performs the action. If it throws, the dialog stays open and shows the error. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for confirmation of an action that cannot be undone. */
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

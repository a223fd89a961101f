import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { troubleOf } from "../server.ts";
import { strings } from "../strings.ts";
import { IconButton } from "./icons.tsx";
import { Told } from "./problem.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Renders a modal dialog. It keeps the keyboard focus until it is closed; the focus then returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // Focuses the first field or the cancel button, not the close button, which comes first.
    dialog.current?.querySelector<HTMLElement>("input, select, .actions button")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <div class="head">
        <h2 id={heading}>{title}</h2>
        <IconButton icon="close" label={strings.close} onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

/** Renders the footer of a dialog: the cancel button, and as `children` the button that performs the action. */
export function Actions({ onCancel, children }: { onCancel: () => void; children: ComponentChildren }) {
  return (
    <div class="actions">
      <button type="button" onClick={onCancel}>
        {strings.cancel}
      </button>
      {children}
    </div>
  );
}

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

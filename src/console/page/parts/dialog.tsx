import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { useAttempt } from "../use-data.ts";
import { Button, IconButton } from "./buttons.tsx";
import { Problem } from "./problem.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Renders a modal dialog. The keyboard focus stays in it until it is closed, and then returns to its old element. */
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

interface FormDialogProps extends DialogProps {
  /** Label of the button that performs the action. */
  readonly action: string;
  /** Whether the action cannot be undone. */
  readonly isBad?: boolean;
  readonly disabled?: boolean;
  /** Performs the action. If it throws, the dialog stays open and shows the error. */
  readonly onSubmit: (form: FormData) => Promise<void>;
}

/** Asks for the fields of a form, or only for confirmation, before an action. */
export function FormDialog({ title, action, isBad, disabled, onSubmit, onClose, children }: FormDialogProps) {
  const { problem, attempt } = useAttempt();
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void attempt(() => onSubmit(form));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <Problem problem={problem} />
        {children}
        <div class="actions">
          <Button look={null} text={strings.cancel} onClick={onClose} />
          <button type="submit" class={isBad ? "main bad" : "main"} disabled={disabled}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

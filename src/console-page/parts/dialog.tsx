import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { strings } from "../strings.ts";
import { IconButton } from "./icon-button.tsx";

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

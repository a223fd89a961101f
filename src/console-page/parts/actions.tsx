import type { ComponentChildren } from "preact";
import { strings } from "../strings.ts";

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

import type { ComponentChildren } from "preact";
import { strings } from "../strings.ts";

/** The foot of a dialog: the button that changes nothing, and the one that does what was asked, as `children`. */
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

import { Icon, type IconName } from "./icons.tsx";

interface ButtonProps {
  readonly text: string;
  /** Words after the text for users who hear the page: they name the object among several. */
  readonly of?: string;
  readonly icon?: IconName;
  /** Null: a button with an edge. */
  readonly look?: "quiet" | "quiet bad" | "main" | null;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** Renders a button with a text, by default without an edge. */
export function Button({ text, of, icon, look = "quiet", disabled, onClick }: ButtonProps) {
  return (
    <button type="button" class={look ?? undefined} disabled={disabled} onClick={onClick}>
      {icon !== undefined && (
        <>
          <Icon name={icon} />{" "}
        </>
      )}
      {text}
      {of !== undefined && <span class="unseen"> {of}</span>}
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** Description of the action, for users who do not see the icon. */
  readonly label: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** Renders a button with only an icon. */
export function IconButton({ icon, label, disabled = false, onClick }: IconButtonProps) {
  return (
    <button type="button" class="quiet icon" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

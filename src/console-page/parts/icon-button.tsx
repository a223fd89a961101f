import { Icon, type IconName } from "./icons.tsx";

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
    <button type="button" class="quiet icon" aria-label={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

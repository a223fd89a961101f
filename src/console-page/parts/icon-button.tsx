import { Icon, type IconName } from "./icons.tsx";

interface IconButtonProps {
  readonly icon: IconName;
  /** What it does, for those who don't see the icon. */
  readonly label: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** A button that is an icon alone. */
export function IconButton({ icon, label, disabled = false, onClick }: IconButtonProps) {
  return (
    <button type="button" class="quiet icon" aria-label={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

import type { ComponentChildren } from "preact";

/** Renders a list of names with a figure for each; the entries are `Figure` elements. */
export function Figures({ children }: { children: ComponentChildren }) {
  return <dl class="figures">{children}</dl>;
}

interface FigureProps {
  readonly name: ComponentChildren;
  /** Value of the figure. */
  readonly children: ComponentChildren;
  readonly isBad?: boolean;
}

export function Figure({ name, children, isBad = false }: FigureProps) {
  return (
    <div class={isBad ? "bad" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

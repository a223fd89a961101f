import type { Named } from "../../console/contract.ts";

/** Renders the options of a select element. The text is the name, the value is the id. */
export function Options({ of }: { of: readonly Named[] }) {
  return (
    <>
      {of.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  );
}

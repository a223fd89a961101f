import type { Named } from "../../console/contract.ts";

/** What a list to choose from offers: names, of which the id is chosen. */
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

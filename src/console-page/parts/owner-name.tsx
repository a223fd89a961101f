import type { Named } from "../../console/contract.ts";

/** Whose a recording is. */
export function OwnerName({ account, workspace }: { account: Named; workspace: Named | null }) {
  return (
    <span>
      <bdi>{account.name}</bdi>
      {workspace !== null && (
        <>
          {" / "}
          <bdi>{workspace.name}</bdi>
        </>
      )}
    </span>
  );
}

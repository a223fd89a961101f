import type { Named } from "../../console/contract.ts";

/** Renders the account and the workspace of a recording. */
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

import type { Overview } from "../../console/contract.ts";
import { duration } from "../format.ts";
import { Told, useTitle } from "../parts/index.ts";
import { strings } from "../strings.ts";
import { Days } from "./days.tsx";
import { InHand } from "./in-hand.tsx";
import { useOverview } from "./live-overview.tsx";
import { Machine } from "./machine.tsx";

const texts = strings.overview;

/** Shows the state of the server at a glance: problems, recordings in progress, speed and scarce resources. */
export function OverviewScreen() {
  const { value, isLive, trouble } = useOverview();
  useTitle(texts.name);
  return (
    <div class="overview">
      <h1 class="statement">{value === null ? texts.name : statementOf(value)}</h1>
      <p class="soft" role="status">
        {value !== null && (isLive ? texts.running(value.server.version, value.server.model) : texts.lost)}
      </p>
      {value === null && <Told trouble={trouble} again={() => location.reload()} />}
      {value !== null && (
        <div class="columns">
          <div>
            <InHand overview={value} />
            <Days days={value.days} />
          </div>
          <Machine overview={value} />
        </div>
      )}
    </div>
  );
}

/** Returns the state of the server in one sentence. */
function statementOf({ server, queue, days }: Overview): string {
  if (server.trouble !== null) return texts.notReady(server.trouble);
  if (queue.processing + queue.queued > 0) return texts.atWork(queue.processing, queue.queued);
  const done = days.at(-1)?.completed_seconds ?? 0;
  return done > 0 ? texts.idleAfter(duration(done)) : texts.idle;
}

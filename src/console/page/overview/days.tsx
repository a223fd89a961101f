import type { Day } from "../../contract/index.ts";
import { dayOf, duration, number } from "../format.ts";
import { strings } from "../strings.ts";

const texts = strings.overview.days;

/** Shows the hours of audio received and completed per day as a bar chart, and the same figures as a table. */
export function Days({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map((day) => Math.max(day.received_seconds, day.completed_seconds)));
  const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0);
  const received = duration(sum(days.map((day) => day.received_seconds)));
  const completed = duration(sum(days.map((day) => day.completed_seconds)));
  return (
    <section aria-labelledby="days">
      <div class="head">
        <h2 id="days">{texts.title}</h2>
        <p class="keys" aria-hidden="true">
          <span class="received">{texts.received}</span> <span class="completed">{texts.completed}</span>
        </p>
      </div>
      <p class="soft">{texts.summary(received, completed)}</p>
      <div class="days" aria-hidden="true">
        {most > 1 && <span class="most">{duration(most)}</span>}
        {days.map((day) => (
          <div class="day" key={day.day} title={titleOf(day)}>
            <Bar kind="received" share={day.received_seconds / most} />
            <Bar kind="completed" share={day.completed_seconds / most} />
          </div>
        ))}
      </div>
      <div class="ends soft" aria-hidden="true">
        <span>{days[0] && dayOf(days[0].day)}</span>
        <span>{texts.today}</span>
      </div>
      <details>
        <summary>{texts.table}</summary>
        <DayTable days={days} />
      </details>
    </section>
  );
}

function titleOf({ day, received_seconds, completed_seconds }: Day): string {
  return texts.day(dayOf(day), duration(received_seconds), duration(completed_seconds));
}

function Bar({ kind, share }: { kind: string; share: number }) {
  return <div class={kind} style={{ blockSize: `${share * 100}%` }} />;
}

function DayTable({ days }: { days: readonly Day[] }) {
  const done = days.filter((day) => day.received_seconds + day.completed_seconds + day.completed + day.failed > 0);
  return (
    <div class="scrollable">
      <table>
        <thead>
          <tr>
            {texts.columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {done.toReversed().map((day) => (
            <tr key={day.day}>
              <th scope="row">{dayOf(day.day)}</th>
              <td>{duration(day.received_seconds)}</td>
              <td>{duration(day.completed_seconds)}</td>
              <td>{number(day.completed)}</td>
              <td>{number(day.failed)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

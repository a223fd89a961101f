// Writes notes into a database and copies its log to it again and again, as another program does: PATH NUMBER NAME.
import { Database } from "bun:sqlite";

const [path = "", number, name] = process.argv.slice(2);
const database = new Database(path);
database.run("PRAGMA busy_timeout = 10000");
// Without it, more writes fall into the moments in which the log starts again.
database.run("PRAGMA synchronous = OFF");
for (let count = 0; count < Number(number); count++) {
  database.run("INSERT INTO notes (text) VALUES (?)", [`${name} ${count}`]);
  if (count % 7 === 0) database.run("PRAGMA wal_checkpoint(PASSIVE)");
  if (count % 50 === 0) {
    database.run("PRAGMA busy_timeout = 0");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    database.run("PRAGMA busy_timeout = 10000");
  }
}
database.close();

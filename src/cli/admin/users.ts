import { Command, InvalidArgumentError, Option } from "commander";
import { checkName, getAccount, requireAccount } from "../../accounts/index.ts";
import { type Store, values } from "../../database/index.ts";
import { isEmailAddress } from "../../text/index.ts";
import {
  accountIdsOf,
  changeUser,
  checkedName,
  createUser,
  deleteUser,
  hashPassword,
  listUsers,
  MIN_PASSWORD_LENGTH,
  type Role,
  requireUser,
  setDisabled,
  setUserPassword,
  type User,
} from "../../users/index.ts";
import { UsageError } from "../command-error.ts";
import { date, facts, type JsonOption, optionalDate, print, printTable, readableTime } from "../output.ts";
import { checkedBy, each, someText } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { readPassword } from "../read-password.ts";
import { openStoreOf, settingsCommand } from "../settings-options.ts";
import { auditor } from "./audit.ts";
import { emptyLog } from "./empty-log.ts";

interface ChangeOptions extends JsonOption {
  readonly name?: string;
  readonly role?: Role;
  readonly account?: readonly string[];
  readonly allAccounts?: true;
}

/** transcribe users create|list|show|set|password|disable|enable|delete */
export function usersCommand(): Command {
  return new Command("users")
    .description(
      "Manage the people who sign in to the console: those with a password, and those of the sign-in provider.",
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(setCommand())
    .addCommand(passwordCommand())
    .addCommand(switchCommand("disable", "Keep a user from signing in; the sessions end at once.", true))
    .addCommand(switchCommand("enable", "Let a disabled user sign in again.", false))
    .addCommand(deleteCommand());
}

const passwordHelp = `read from the terminal or from standard input, at least ${MIN_PASSWORD_LENGTH} characters`;

function createCommand(): Command {
  return changeCommand("create", `Create a user who signs in with an e-mail address and a password, ${passwordHelp}.`)
    .argument("<email>", "the address by which the user signs in", emailAddress)
    .action(async (email: string, options: ChangeOptions, command: Command) => {
      const { role } = options;
      if (role === undefined) throw new UsageError("name the role: --role operator, member or reader");
      refuseAccountsOf(role, options);
      if (role !== "operator" && options.account === undefined && options.allAccounts !== true) {
        throw new UsageError(`name the accounts whose recordings a ${role} sees: --account NAME, or --all-accounts`);
      }
      const store = openStoreOf(command);
      const { accounts = [], name } = changesOf(store, options);
      const passwordHash = await hashPassword(await readPassword());
      const user = createUser(store, { email, name, role, accounts, passwordHash }, auditor());
      print(options, toJson(store, user), () => `created user ${user.id}`);
    });
}

function listCommand(): Command {
  return settingsCommand("list", "List the users.").action((options: JsonOption, command: Command) => {
    const store = openStoreOf(command);
    const none = "no users; create one with: transcribe users create EMAIL --role member --account NAME";
    printTable(options, listUsers(store), (user) => toJson(store, user), none, {
      NAME: ({ name }) => printable(name),
      "E-MAIL": ({ email }) => printable(email ?? "-"),
      ROLE: ({ role }) => role,
      ACCOUNTS: (user) => accountText(store, user),
      "SIGNS IN BY": ({ issuer }) => printable(issuer ?? "password"),
      "LAST SIGN-IN": ({ lastSignInAt }) => readableTime(lastSignInAt),
      STATUS: ({ disabledAt }) => (disabledAt === null ? "active" : "disabled"),
      ID: ({ id }) => id,
    });
  });
}

function showCommand(): Command {
  return userCommand("show", "Show one user, with all that is stored about the person.").action(
    (sought: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const user = requireUser(store, sought);
      print(options, toJson(store, user), () =>
        facts({
          id: user.id,
          name: user.name,
          "e-mail": user.email,
          role: user.role,
          accounts: accountText(store, user),
          issuer: user.issuer,
          subject: user.subject,
          created: readableTime(user.createdAt),
          "last sign-in": readableTime(user.lastSignInAt),
          "disabled since": readableTime(user.disabledAt),
        }),
      );
    },
  );
}

function setCommand(): Command {
  return changeCommand("set", "Change the name, the role or the accounts of a user with a password, at once.")
    .argument("<user>", "the e-mail address or id", someText)
    .action((sought: string, options: ChangeOptions, command: Command) => {
      const { name, role, account, allAccounts } = options;
      if ([name, role, account, allAccounts].every((change) => change === undefined)) {
        throw new UsageError("name the change: --name, --role, --account or --all-accounts");
      }
      if (role !== undefined) refuseAccountsOf(role, options);
      const store = openStoreOf(command);
      const before = requireUser(store, sought);
      refuseAccountsOf(role ?? before.role, options);
      const changes = changesOf(store, options);
      const user = changeUser(store, before, changes, auditor());
      if (accountNames(store, user)?.length === 0) {
        process.stderr.write("the user sees no recordings; assign accounts: --account NAME, or --all-accounts\n");
      }
      print(options, toJson(store, user), () => `changed user ${user.id}`);
    });
}

function passwordCommand(): Command {
  return userCommand("password", `Replace a user's password, ${passwordHelp}. The user's sessions end.`).action(
    async (sought: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const user = requireUser(store, sought);
      setUserPassword(store, user, await hashPassword(await readPassword()), auditor());
      print(options, toJson(store, user), () => `the password of user ${user.id} is set`);
    },
  );
}

function switchCommand(name: string, description: string, isDisabled: boolean): Command {
  return userCommand(name, description).action((sought: string, options: JsonOption, command: Command) => {
    const store = openStoreOf(command);
    const user = setDisabled(store, requireUser(store, sought), isDisabled, auditor());
    print(options, toJson(store, user), () => `${name}d user ${user.id}`);
  });
}

function deleteCommand(): Command {
  const description =
    "Delete a user with all that is stored about the person; the sessions end. A user of the sign-in provider may come back: disable the user instead, or change the rules.";
  return userCommand("delete", description)
    .requiredOption("--yes", "confirms the deletion, which can't be undone")
    .action(async (sought: string, options: JsonOption, command: Command) => {
      const store = openStoreOf(command);
      const user = requireUser(store, sought);
      const json = toJson(store, user);
      deleteUser(store, user, auditor());
      // Otherwise the deleted data would stay in the log of the database for a while.
      await emptyLog(store);
      print(options, json, () => `deleted user ${user.id}`);
    });
}

function userCommand(name: string, description: string): Command {
  return settingsCommand(name, description).argument("<user>", "the e-mail address or id", someText);
}

function changeCommand(name: string, description: string): Command {
  return settingsCommand(name, description)
    .option("--name <text>", "the person's name (default: the e-mail address)", checkedBy(checkedName))
    .addOption(new Option("--role <role>", "what the user may do").choices(values.roles))
    .option(
      "--account <name>",
      "an account whose recordings the user sees; can be repeated",
      each(checkedBy(checkName)),
    )
    .addOption(
      new Option("--all-accounts", "the user sees the recordings of all accounts, also of later ones").conflicts(
        "account",
      ),
    );
}

function changesOf(store: Store, { name, role, account, allAccounts }: ChangeOptions) {
  const accounts = allAccounts === true ? ("all" as const) : account?.map((each) => requireAccount(store, each));
  return {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(accounts === undefined ? {} : { accounts }),
  };
}

function emailAddress(text: string): string {
  if (isEmailAddress(text.trim())) return text;
  throw new InvalidArgumentError("It takes an e-mail address, such as anna@example.org.");
}

/** @throws {UsageError} for accounts of an operator, which would mean nothing */
function refuseAccountsOf(role: Role, { account }: ChangeOptions): void {
  if (role !== "operator" || account === undefined) return;
  throw new UsageError("an operator sees all accounts; leave out --account, or choose --role member or reader");
}

function accountText(store: Store, user: User): string {
  return accountNames(store, user)?.join(", ").replace(/^$/, "none") ?? "all";
}

/** Returns the names of the accounts that a user sees; null for all. */
function accountNames(store: Store, user: User): string[] | null {
  const ids = accountIdsOf(store, user);
  return ids === "all" ? null : ids.flatMap((id) => getAccount(store, id)?.name ?? []);
}

function toJson(store: Store, user: User) {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    role: user.role,
    /** Null if the user sees all accounts. */
    accounts: accountNames(store, user),
    issuer: user.issuer,
    subject: user.subject,
    created_at: date(user.createdAt),
    last_sign_in_at: optionalDate(user.lastSignInAt),
    disabled_since: optionalDate(user.disabledAt),
  };
}

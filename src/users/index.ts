export { hashPassword, isPasswordOf, MIN_PASSWORD_LENGTH } from "./passwords.ts";
export {
  type ClaimedUser,
  enterClaimedUser,
  grantOf,
  parseSignInRules,
} from "./provider-users.ts";
export {
  accountIdsOf,
  actorOf,
  changeUser,
  checkedName,
  createUser,
  deleteUser,
  findClaimedUser,
  findLocalUser,
  getUser,
  hasLocalUsers,
  listUsers,
  nameOfActor,
  noteSignIn,
  type Role,
  requireUser,
  setDisabled,
  setUserPassword,
  type User,
} from "./users.ts";

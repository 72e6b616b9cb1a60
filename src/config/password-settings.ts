import { authentication } from './setting.js';

/** Requirements and effects of new passwords (docs/contract/resources.md#passwords). */
export const PASSWORD_SETTINGS = {
  LOCAL_PASSWORD_MIN_LENGTH: authentication.integer({
    default: 8,
    min: 0,
    max: 128,
    help: 'Minimum length of a new password.',
  }),
  LOCAL_PASSWORD_MIN_DIGITS: authentication.integer({
    default: 0,
    min: 0,
    max: 128,
    help: 'Minimum number of digits in a new password.',
  }),
  LOCAL_PASSWORD_MIN_UPPER: authentication.integer({
    default: 0,
    min: 0,
    max: 128,
    help: 'Minimum number of uppercase letters in a new password.',
  }),
  LOCAL_PASSWORD_MIN_SPECIAL: authentication.integer({
    default: 0,
    min: 0,
    max: 128,
    help: 'Minimum number of characters in a new password that are neither letters nor digits.',
  }),
  PASSWORD_CHANGE_ENDS_TOKENS: authentication.boolean({
    default: false,
    help: 'Revoke all tokens of a user when the password changes, except the token of the request.',
  }),
} as const;

/** Ways to log in, limit of sessions, and limits of failed logins (docs/contract/access.md#guessing). */
export const LOGIN_SETTINGS = {
  DISABLE_LOCAL_AUTH: authentication.boolean({
    default: false,
    runtime: true,
    help: 'If true, only superusers can log in with a local password; other users need an authenticator or a token.',
  }),
  REQUIRE_TWO_FACTORS: authentication.string({
    default: 'none',
    choices: ['none', 'admins', 'all'],
    runtime: true,
    help: 'Users who need a second factor when they log in with a password: `none`, `admins` (superusers and system auditors) or `all`. Until they set one up, the pages offer only the setup, and HTTP Basic is refused. Tokens stay valid.',
  }),
  SESSIONS_PER_USER: authentication.integer({
    default: -1,
    min: -1,
    runtime: true,
    help: 'Maximum number of concurrent browser sessions of a user. A login above the limit ends the oldest sessions. -1: no limit.',
  }),
  LOGIN_RATE: authentication.integer({
    default: 60,
    min: 1,
    help: 'Failed logins per minute for an account from one address. Further logins are refused with 429.',
  }),
  LOGIN_ACCOUNT_RATE: authentication.integer({
    default: 600,
    min: 1,
    help: 'Failed logins per minute for an account from all addresses. Further logins are refused with 429.',
  }),
} as const;

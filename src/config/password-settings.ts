import { boolean, integer, string } from './setting.js';

/** Requirements of new passwords (docs/contract/resources.md#passwords). */
export const PASSWORD_SETTINGS = {
  LOCAL_PASSWORD_MIN_LENGTH: integer({
    category: 'authentication',
    default: 8,
    min: 0,
    max: 128,
    help: 'Characters a new password has at least.',
  }),
  LOCAL_PASSWORD_MIN_DIGITS: integer({
    category: 'authentication',
    default: 0,
    min: 0,
    max: 128,
    help: 'Digits in a new password at least.',
  }),
  LOCAL_PASSWORD_MIN_UPPER: integer({
    category: 'authentication',
    default: 0,
    min: 0,
    max: 128,
    help: 'Uppercase letters in a new password at least.',
  }),
  LOCAL_PASSWORD_MIN_SPECIAL: integer({
    category: 'authentication',
    default: 0,
    min: 0,
    max: 128,
    help: 'Characters in a new password, at least, that are neither letters nor digits.',
  }),
  PASSWORD_CHANGE_ENDS_TOKENS: boolean({
    category: 'authentication',
    default: false,
    help: 'End the tokens of a user with a new password, except the token that set it.',
  }),
} as const;

/** Ways to log in, and rate limits of failed logins (docs/contract/access.md#guessing). */
export const LOGIN_SETTINGS = {
  DISABLE_LOCAL_AUTH: boolean({
    category: 'authentication',
    default: false,
    runtime: true,
    help: 'True: local passwords log in superusers only; all others use an authenticator, or a token.',
  }),
  REQUIRE_TWO_FACTORS: string({
    category: 'authentication',
    default: 'none',
    choices: ['none', 'admins', 'all'],
    runtime: true,
    help: 'Users who log in with a password and must have a second factor: `none`, `admins` (superusers and system auditors) or `all`. Until they set one up, the pages offer nothing else, and HTTP Basic is refused; tokens go on.',
  }),
  SESSIONS_PER_USER: integer({
    category: 'authentication',
    default: -1,
    min: -1,
    runtime: true,
    help: 'Browser sessions that a user can have at the same time. A login beyond ends the oldest ones, never its own session. -1: any number.',
  }),
  LOGIN_RATE: integer({
    category: 'authentication',
    default: 60,
    min: 1,
    help: 'Failed logins for an account from one address in a minute before further ones are refused with 429.',
  }),
  LOGIN_ACCOUNT_RATE: integer({
    category: 'authentication',
    default: 600,
    min: 1,
    help: 'Failed logins for an account from all addresses in a minute before further ones are refused with 429.',
  }),
} as const;

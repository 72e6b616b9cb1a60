import { BULK_SETTINGS } from './bulk-settings.js';
import { DATABASE_SETTINGS } from './database-settings.js';
import { HTTP_SETTINGS, MEGABYTE } from './http-settings.js';
import { JOB_SETTINGS, jobSettingFaults } from './job-settings.js';
import { LOG_AGGREGATOR_SETTINGS, logAggregatorFaults } from './logging-settings.js';
import { LOGIN_SETTINGS, PASSWORD_SETTINGS } from './password-settings.js';
import { networkFault, proxyFault } from './networks.js';
import { PROJECT_SETTINGS } from './project-settings.js';
import {
  authentication,
  jobs,
  logging,
  notifications,
  parseSetting,
  readEnvironment,
  SettingsError,
  system,
  webhooks,
  type SettingDeclaration,
} from './setting.js';
import { UI_SETTINGS } from './ui-settings.js';

/** Limits of live streams (server-sent events) and WebSockets, each of which holds a connection. */
const STREAM_SETTINGS = {
  STREAMS_PER_USER: system.integer({
    default: 10,
    min: 1,
    help: 'Maximum number of open live streams and WebSockets of one user, on one machine.',
  }),
  STREAMS_MAX: system.integer({
    default: 500,
    min: 1,
    help: 'Maximum number of open live streams and WebSockets of all users, on one machine.',
  }),
  STREAM_SECONDS: system.seconds({
    default: 600,
    min: 1,
    // Longer timers of Node end immediately.
    max: 2_147_483,
    help: 'Maximum duration of a live stream in seconds. The client then reconnects and authenticates again.',
  }),
} as const;

const DAY_SECONDS = 86_400;

/** Returns the error of a text that is neither empty nor a URL to which paths can be appended, or null. */
const baseUrlFault = (value: string): string | null =>
  value === '' || (/^https?:\/\/[^\s?#]+$/i.test(value) && URL.canParse(value))
    ? null
    : 'Must be an http or https URL without a query, such as https://controller.example.com.';

/** Lifetime of browser sessions, and enforcement of https (docs/contract/access.md#sessions). */
const SESSION_SETTINGS = {
  SESSION_COOKIE_AGE: authentication.seconds({
    default: 1800,
    min: 60,
    help: 'Seconds until an idle session expires.',
  }),
  SESSION_MAX_AGE: authentication.seconds({
    default: DAY_SECONDS,
    min: 60,
    help: 'Maximum lifetime of a session in seconds, even if it is in use.',
  }),
  EXTERNAL_SESSION_AGE: authentication.seconds({
    default: 0,
    help: 'Maximum lifetime in seconds of sessions of users of an authenticator, so that changes at the provider take effect. 0, or more than SESSION_MAX_AGE: the same lifetime as other sessions.',
  }),
  HSTS_MAX_AGE: authentication.seconds({
    default: 365 * DAY_SECONDS,
    help: 'Seconds for which browsers use HTTPS only (Strict-Transport-Security); 0 sends no header.',
  }),
} as const;

/** All settings of the product. The table in docs/settings.md is generated from this object. */
export const SETTINGS = {
  ...DATABASE_SETTINGS,
  REDIS_URL: system.secret({ default: '', help: 'Redis connection URL.' }),
  QUEUE_PREFIX: system.string({
    default: 'controller',
    help: 'Prefix of the queues in Redis, so that installations can share a server.',
  }),
  SECRET_KEY: system.secret({
    default: '',
    help: 'Key that encrypts stored secrets. Without this key, the secrets cannot be recovered.',
  }),
  SECRET_KEY_OLD: system.secret({
    default: '',
    help: 'Previous key, which decrypts stored secrets while `rotate-secret-key` runs.',
  }),
  HOST: system.string({ default: '127.0.0.1', help: 'Address the API listens on.' }),
  PORT: system.integer({ default: 8080, max: 65_535, help: 'Port of the API.' }),
  SERVICE_ACCOUNT: system.string({
    default: 'automation-controller',
    help: 'Account of the API and the worker if `npm start` runs as root; a missing account is created. `root`: the processes keep running as root.',
  }),
  SYSTEM_ANSIBLE: system.boolean({
    default: false,
    help: 'If true, `npm start` uses the Ansible of the system instead of its own current release.',
  }),
  DATA_DIR: system.string({
    default: 'var',
    help: 'Folder for projects, job workspaces and the data of the embedded servers.',
  }),
  BASE_URL: system.string({
    default: '',
    runtime: true,
    max: 4096,
    fault: baseUrlFault,
    help: 'Public URL of this installation, for links in notifications and status posts. Empty: the address that users connect to, if known; otherwise built from HOST (or the name of the machine, if the API listens on all addresses) and PORT.',
  }),
  LOG_LEVEL: logging.string({
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error'],
    help: 'Minimum severity that is logged.',
  }),
  ...LOG_AGGREGATOR_SETTINGS,
  TRUSTED_PROXIES: system.list({
    default: [],
    fault: proxyFault,
    help: 'Networks (CIDR) of reverse proxies whose X-Forwarded-For is trusted. All clients behind any other proxy count as one address, also for the limits of logins and connections.',
  }),
  PAGE_SIZE: system.integer({ default: 25, min: 1, help: 'Default size of a page.' }),
  MAX_PAGE_SIZE: system.integer({
    default: 200,
    min: 1,
    help: 'Maximum page size of lists. Larger values of `page_size` are capped.',
  }),
  BODY_LIMIT: system.bytes({
    default: 10 * MEGABYTE,
    min: 1024,
    help: 'Maximum size of a request body, in bytes.',
  }),
  ...HTTP_SETTINGS,
  ...BULK_SETTINGS,
  AUTH_BASIC_ENABLED: authentication.boolean({
    default: true,
    help: 'Accept HTTP Basic authentication.',
  }),
  ...SESSION_SETTINGS,
  OAUTH2_ACCESS_TOKEN_AGE: authentication.seconds({
    min: 60,
    default: 3600,
    help: 'Seconds until an access token of an application expires.',
  }),
  OAUTH2_REFRESH_TOKEN_AGE: authentication.seconds({
    min: 60,
    default: 2_592_000,
    help: 'Seconds until a refresh token of an application expires.',
  }),
  OAUTH2_PASSWORD_GRANT: authentication.boolean({
    default: false,
    help: 'Let applications exchange the password of a user for tokens.',
  }),
  TOKEN_EXPIRY: authentication.seconds({
    default: 365 * DAY_SECONDS,
    min: 60,
    help: 'Seconds until a new access token expires.',
  }),
  ...LOGIN_SETTINGS,
  TOKEN_RATE: authentication.integer({
    default: 1200,
    min: 1,
    help: 'Maximum number of tokens that a user can create per minute.',
  }),
  CREDENTIAL_TEST_RATE: system.integer({
    default: 60,
    min: 1,
    help: 'Maximum number of tests of secret stores and authenticators, per user and minute.',
  }),
  VAULT_KUBERNETES_AUTH_HOSTS: system.list({
    default: [],
    help: 'Hosts of HashiCorp Vault, with any nonstandard port, that credentials can log in to with a Kubernetes role. These hosts receive the service account token of the process.',
  }),
  VAULT_KUBERNETES_TOKEN_FILE: system.string({
    default: '/var/run/secrets/kubernetes.io/serviceaccount/token',
    help: 'File with the service account token that is sent to VAULT_KUBERNETES_AUTH_HOSTS.',
  }),
  RECEIVER_RATE: webhooks.integer({
    default: 120_000,
    min: 1,
    help: 'Maximum number of webhook deliveries per minute, for each template and sender address.',
  }),
  NOTIFICATION_TEST_RATE: notifications.integer({
    default: 60,
    min: 1,
    help: 'Maximum number of requests that test or resend notifications, per user and minute.',
  }),
  NOTIFICATION_RESEND_MAX: notifications.integer({
    default: 1000,
    min: 1,
    max: 100_000,
    runtime: true,
    help: 'Maximum number of notifications in one resend of a time range.',
  }),
  ORG_ADMINS_CAN_SEE_ALL_USERS: system.boolean({
    default: true,
    help: 'Show all users and teams to the administrators and auditors of each organization.',
  }),
  MANAGE_ORGANIZATION_AUTH: system.boolean({
    default: true,
    help: 'Let administrators of organizations and teams manage the administrators and members. If false, only superusers can.',
  }),
  ...PASSWORD_SETTINGS,
  WEBHOOK_BODY_LIMIT: webhooks.bytes({
    default: 25 * MEGABYTE,
    min: 1024,
    help: 'Maximum size of a webhook payload, in bytes.',
  }),
  WEBHOOK_VARIABLE_PREFIXES: webhooks.list({
    default: ['svc_', 'awx_', 'tower_'],
    help: 'Prefixes of the webhook variables that a job receives.',
  }),
  WEBHOOK_HEADER_ALIASES: webhooks.boolean({
    default: true,
    help: 'Accept the header names of the code hosts in addition to the neutral names.',
  }),
  SERVICE_NAMES: system.string({
    default: 'neutral',
    choices: ['neutral', 'vendor'],
    help: 'Names of code hosts and channels in the API. `neutral`: the names of the contract. `vendor`: the names of the products, for existing clients.',
  }),
  WEBHOOK_STATUS_CONTEXT: webhooks.string({
    default: 'automation-controller',
    help: 'Prefix of the context of commit statuses.',
  }),
  WEBHOOK_STATUS_HOSTS: webhooks.list({
    default: [],
    help: 'Hosts that can receive commit statuses of credentials without a host, in addition to the public code hosts. A credential with a host posts to that host only.',
  }),
  DELIVERY_RETENTION: webhooks.days({
    default: 30,
    min: 1,
    help: 'Days for which cleanups keep webhook deliveries.',
  }),
  EVENT_RETENTION: jobs.days({
    default: 90,
    min: 1,
    help: 'Days for which `cleanup` keeps job events.',
  }),
  OUTBOUND_ALLOW: system.list({
    default: [],
    fault: networkFault,
    help: 'Private networks (CIDR) that outgoing connections can reach: notifications, status posts, project updates, image pulls, secret stores, identity providers and the log aggregator.',
  }),
  CHAT_A_API_URL: notifications.string({
    default: 'https://slack.com',
    help: 'Base URL of the chat_a service.',
  }),
  SMS_A_API_URL: notifications.string({
    default: 'https://api.twilio.com',
    help: 'Base URL of the sms_a service.',
  }),
  INCIDENT_A_API_URL: notifications.string({
    default: 'https://events.pagerduty.com',
    help: 'Base URL of the incident_a service.',
  }),
  ...PROJECT_SETTINGS,
  MAX_FORKS: jobs.integer({
    default: 200,
    min: 1,
    help: 'Maximum number of forks of a job.',
  }),
  ...JOB_SETTINGS,
  SCHEDULE_MAX_JOBS: jobs.integer({
    default: 10,
    min: 1,
    runtime: true,
    help: 'Number of active runs of a template at which its schedules launch no further run.',
  }),
  DEFAULT_JOB_TIMEOUT: jobs.seconds({
    default: 0,
    runtime: true,
    help: 'Timeout in seconds of jobs whose template sets none. 0: no limit.',
  }),
  DEFAULT_PROJECT_UPDATE_TIMEOUT: jobs.seconds({
    default: 0,
    runtime: true,
    help: 'Timeout in seconds of updates of projects that set none. 0: no limit.',
  }),
  DEFAULT_INVENTORY_UPDATE_TIMEOUT: jobs.seconds({
    default: 0,
    runtime: true,
    help: 'Timeout in seconds of inventory updates whose source sets none. 0: no limit.',
  }),
  STDOUT_MAX_BYTES_DISPLAY: jobs.bytes({
    default: MEGABYTE,
    help: 'Maximum size of job output in responses and pages, in bytes. Larger output can only be downloaded.',
  }),
  EVENT_STDOUT_MAX_BYTES_DISPLAY: jobs.bytes({
    default: 1024,
    help: 'Maximum size of the output of one event in lists, in bytes. 0: no limit.',
  }),
  ADMIN_USERNAME: system.string({ default: 'admin', help: 'First administrator.' }),
  ADMIN_PASSWORD: system.secret({
    default: '',
    help: 'Password of the first administrator.',
  }),
  ...STREAM_SETTINGS,
  ...UI_SETTINGS,
  DEMO_DATA: system.boolean({ default: true, help: 'Create the demo objects.' }),
} as const satisfies Record<string, SettingDeclaration<never> | SettingDeclaration<unknown>>;

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends SettingDeclaration<infer T>
    ? T
    : never;
};

/** Settings of this process, for injection. */
export abstract class Settings {
  /**
   * Reads and validates the environment.
   *
   * @throws SettingsError with the errors of all single settings, or else of combinations
   */
  static load(environment: NodeJS.ProcessEnv): Settings {
    const faults: string[] = [];
    const values: Record<string, unknown> = {};
    for (const [name, declaration] of Object.entries(SETTINGS)) {
      try {
        const text = readEnvironment(environment, name);
        values[name] =
          text === undefined ? declaration.default : parseSetting(name, declaration, text);
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error));
      }
    }
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'SECRET_KEY']) {
      if (values[name] === '') faults.push(`${name} must be set (npm start does it for you).`);
    }
    if (faults.length > 0) throw new SettingsError(faults);
    const settings = Object.freeze(values) as Settings;
    const combinationFaults = [...jobSettingFaults(settings), ...logAggregatorFaults(settings)];
    if (combinationFaults.length > 0) throw new SettingsError(combinationFaults);
    return settings;
  }
}

export interface Settings extends SettingValues {}

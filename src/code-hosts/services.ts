import type { SignatureRule } from './signature.js';
import { apiRootOfPaths, apiRootOfProject, type StatusUrlRule } from './status-url.js';
import { keysOf } from '../common/records.js';

/** Statuses of a run that can be posted. Other statuses are never posted. */
export type PostedStatus = 'pending' | 'running' | 'successful' | 'failed' | 'error' | 'canceled';

/** Content of a field in a status body. */
export type StatusBodyPart = 'state' | 'targetUrl' | 'description' | 'context';

/** Dotted path into the payload; a number is an index into a list. */
export type PayloadPath = string;

/** Paths of the data in an event's payload. An event that is not in the table launches nothing. */
export interface EventRule {
  /** Commit or tag of the event. */
  ref: PayloadPath;
  /** Name of the branch or tag. */
  refName?: PayloadPath;
  /** Commit with the change, if `ref` is the head of the target branch. */
  headRef?: PayloadPath;
  /** URL for the run's status; absent if the event has none. */
  statusUrl?: StatusUrlRule;
  /** True if the event is a push of commits or a tag, or their deletion. */
  isPush?: boolean;
  /** Ids of the source and the target repository of a change, if they can differ. */
  repositories?: { head: PayloadPath; base: PayloadPath };
  /** List of pushed refs, if one event can concern several; `refName` is the name of the first. */
  changes?: PayloadPath;
}

/** Complete description of a code host. To add a code host, add a row to the table. */
export interface WebhookService {
  /** Name of the product, for pages and descriptions. */
  label: string;
  eventHeader: string;
  /** Headers in order of precedence: the first one that is present identifies the delivery. */
  deliveryHeaders: readonly string[];
  /**
   * Identity of a delivery without such a header: a digest of the body, valid for `windowSeconds`, or
   * forever if null.
   */
  deliveryDigest: { algorithm: 'sha1' | 'sha256'; windowSeconds: number | null };
  signature: SignatureRule;
  /** Events that the service sends without a signature. They are never listed and never launch. */
  unsignedEvents: readonly string[];
  /** Connection tests. */
  pingEvents: readonly string[];
  /** Path of the action, such as `opened`; null if the event's name includes the action. */
  action: PayloadPath | null;
  /** Paths of the name of the user who caused an event; the first one that is present counts. */
  senders: readonly PayloadPath[];
  /** Form field with the JSON for webhooks in form encoding; null if the service has no form encoding. */
  formField: string | null;
  events: Readonly<Record<string, EventRule>>;
  status: {
    states: Readonly<Partial<Record<PostedStatus, string>>>;
    body: Readonly<Record<string, StatusBodyPart>>;
    authorization: { header: string; scheme: string };
    descriptionLimit: number;
    contextLimit: number;
    /** Hosts of the public service, for credentials without a `host` input. */
    publicHosts: readonly string[];
  };
}

const DAY_SECONDS = 86_400;

const PULL_REQUEST: EventRule = {
  ref: 'pull_request.head.sha',
  refName: 'pull_request.head.ref',
  repositories: { head: 'pull_request.head.repo.id', base: 'pull_request.base.repo.id' },
};
const SERVICE_B_STATUS: StatusUrlRule = {
  path: '/api/v4/projects/{id}/statuses/{ref}',
  id: 'project.id',
  root: apiRootOfProject,
};
const SERVICE_B_PUSH: EventRule = {
  ref: 'checkout_sha',
  refName: 'ref',
  statusUrl: SERVICE_B_STATUS,
  isPush: true,
};
const SERVICE_C_STATUS: StatusUrlRule = {
  path: '/rest/build-status/1.0/commits/{ref}',
  root: apiRootOfPaths('actor.links.self.0.href', 'repository.links.self.0.href'),
};
const SERVICE_C_CHANGES: EventRule = {
  ref: 'changes.0.toHash',
  refName: 'changes.0.ref.id',
  statusUrl: SERVICE_C_STATUS,
  isPush: true,
  changes: 'changes',
};
const SERVICE_C_PULL_REQUEST: EventRule = {
  ref: 'pullRequest.toRef.latestCommit',
  refName: 'pullRequest.fromRef.id',
  headRef: 'pullRequest.fromRef.latestCommit',
  repositories: {
    head: 'pullRequest.fromRef.repository.id',
    base: 'pullRequest.toRef.repository.id',
  },
  statusUrl: SERVICE_C_STATUS,
};

const TABLE = {
  service_a: {
    label: 'GitHub',
    eventHeader: 'X-Service-A-Event',
    deliveryHeaders: ['X-Service-A-Delivery'],
    deliveryDigest: { algorithm: 'sha256', windowSeconds: null },
    signature: {
      kind: 'hmac',
      headers: [
        { name: 'X-Service-A-Signature', algorithms: ['sha1'] },
        { name: 'X-Service-A-Signature-256', algorithms: ['sha256'] },
      ],
    },
    unsignedEvents: [],
    pingEvents: ['ping'],
    action: 'action',
    senders: ['sender.login'],
    formField: 'payload',
    events: {
      push: {
        ref: 'after',
        refName: 'ref',
        statusUrl: { template: 'repository.statuses_url', placeholder: '{sha}' },
        isPush: true,
      },
      pull_request: { ...PULL_REQUEST, statusUrl: { template: 'pull_request.statuses_url' } },
      pull_request_review: PULL_REQUEST,
      pull_request_review_comment: PULL_REQUEST,
      release: { ref: 'release.tag_name', refName: 'release.tag_name' },
      // Any user can comment on a commit of a fork, and the payload does not name its repository.
      commit_comment: {
        ref: 'comment.commit_id',
        repositories: { head: 'comment.repository.id', base: 'repository.id' },
      },
      create: { ref: 'ref', refName: 'ref' },
      page_build: { ref: 'build.commit' },
    },
    status: {
      // The service has no state for a running run other than `pending`, which is already posted.
      states: {
        pending: 'pending',
        successful: 'success',
        failed: 'failure',
        error: 'error',
        canceled: 'failure',
      },
      body: {
        state: 'state',
        target_url: 'targetUrl',
        description: 'description',
        context: 'context',
      },
      authorization: { header: 'Authorization', scheme: 'token ' },
      descriptionLimit: 140,
      contextLimit: 255,
      publicHosts: ['https://api.github.com'],
    },
  },
  service_b: {
    label: 'GitLab',
    eventHeader: 'X-Service-B-Event',
    deliveryHeaders: ['Idempotency-Key', 'webhook-id', 'X-Service-B-Delivery'],
    // Two equal pushes have equal bodies, so the digest must not block the second one forever.
    deliveryDigest: { algorithm: 'sha1', windowSeconds: DAY_SECONDS },
    signature: { kind: 'token', header: 'X-Service-B-Token' },
    unsignedEvents: [],
    pingEvents: [],
    action: 'object_attributes.action',
    senders: ['user_username', 'user.username'],
    formField: null,
    events: {
      'Push Hook': SERVICE_B_PUSH,
      'Tag Push Hook': SERVICE_B_PUSH,
      'Merge Request Hook': {
        statusUrl: SERVICE_B_STATUS,
        ref: 'object_attributes.last_commit.id',
        refName: 'object_attributes.source_branch',
        repositories: {
          head: 'object_attributes.source_project_id',
          base: 'object_attributes.target_project_id',
        },
      },
    },
    status: {
      states: {
        pending: 'pending',
        running: 'running',
        successful: 'success',
        failed: 'failed',
        error: 'failed',
        canceled: 'canceled',
      },
      body: {
        state: 'state',
        target_url: 'targetUrl',
        description: 'description',
        name: 'context',
      },
      authorization: { header: 'PRIVATE-TOKEN', scheme: '' },
      descriptionLimit: 255,
      contextLimit: 255,
      publicHosts: ['https://gitlab.com'],
    },
  },
  service_c_dc: {
    label: 'Bitbucket Data Center',
    eventHeader: 'X-Service-C-Event',
    deliveryHeaders: ['X-Service-C-Delivery', 'X-Service-C-Request-Id'],
    deliveryDigest: { algorithm: 'sha256', windowSeconds: null },
    signature: {
      kind: 'hmac',
      headers: [{ name: 'X-Service-C-Signature', algorithms: ['sha256', 'sha1'] }],
    },
    unsignedEvents: ['diagnostics:ping'],
    pingEvents: ['diagnostics:ping'],
    action: null,
    senders: ['actor.name'],
    formField: null,
    events: {
      'repo:refs_changed': SERVICE_C_CHANGES,
      'mirror:repo_synchronized': SERVICE_C_CHANGES,
      'pr:opened': SERVICE_C_PULL_REQUEST,
      'pr:from_ref_updated': SERVICE_C_PULL_REQUEST,
      'pr:modified': SERVICE_C_PULL_REQUEST,
    },
    status: {
      states: {
        pending: 'INPROGRESS',
        running: 'INPROGRESS',
        successful: 'SUCCESSFUL',
        failed: 'FAILED',
        error: 'FAILED',
        canceled: 'FAILED',
      },
      body: {
        state: 'state',
        key: 'context',
        name: 'context',
        url: 'targetUrl',
        description: 'description',
      },
      authorization: { header: 'Authorization', scheme: 'Bearer ' },
      descriptionLimit: 255,
      contextLimit: 255,
      publicHosts: [],
    },
  },
} as const satisfies Record<string, WebhookService>;

/** `service_a`, `service_b` or `service_c_dc`: the keys of the table. */
export type WebhookServiceName = keyof typeof TABLE;

/**
 * All services in the contract's order: choices of `webhook_service`, and path segments of the receivers.
 */
export const WEBHOOK_SERVICE_NAMES = keysOf(TABLE);

/** Choices of `webhook_service`. */
export const WEBHOOK_SERVICES: readonly (readonly [name: string, label: string])[] = [
  ['', 'None'],
  ...WEBHOOK_SERVICE_NAMES.map((name) => [name, TABLE[name].label] as const),
];

/** Returns true if the text is one of the contract's service names. Names of real services are not. */
export function isWebhookServiceName(name: string): name is WebhookServiceName {
  return Object.hasOwn(TABLE, name);
}

/** Returns the table row of a service. */
export function webhookService(name: WebhookServiceName): WebhookService {
  return TABLE[name];
}

/** Returns the rule for an event of a service, or undefined for an event that launches nothing. */
export function eventRule(name: WebhookServiceName, type: string): EventRule | undefined {
  const { events } = webhookService(name);
  return Object.hasOwn(events, type) ? events[type] : undefined;
}

/** Returns the namespace of the credential type whose token posts statuses to a service. */
export function tokenTypeNamespace(name: WebhookServiceName): `${WebhookServiceName}_token` {
  return `${name}_token`;
}

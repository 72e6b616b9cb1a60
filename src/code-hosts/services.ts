import type { SignatureRule } from './signature.js';
import { apiRootOfPaths, apiRootOfProject, type StatusUrlRule } from './status-url.js';
import { keysOf } from '../common/records.js';

/** Statuses of a run that can be posted; any other status is never announced. */
export type PostedStatus = 'pending' | 'running' | 'successful' | 'failed' | 'error' | 'canceled';

/** What a field of a status body is filled with. */
export type StatusBodyPart = 'state' | 'targetUrl' | 'description' | 'context';

/** Dotted path into the payload; a number is an index into a list. */
export type PayloadPath = string;

/** Where an event keeps what we read from it. An event without a row in the table launches nothing. */
export interface EventRule {
  /** The commit or tag the event is about. */
  ref: PayloadPath;
  /** The branch or tag by name. */
  refName?: PayloadPath;
  /** The commit that carries the change, where `ref` names the branch it would be merged into. */
  headRef?: PayloadPath;
  /** Where the run's status is posted; absent when the event offers no place. */
  statusUrl?: StatusUrlRule;
  /** Commits or a tag came to the repository, or went. */
  isPush?: boolean;
  /** Ids of the repositories a change comes from and is meant for, where those may differ. */
  repositories?: { head: PayloadPath; base: PayloadPath };
  /** List of what was pushed, where one event may be about several refs; `refName` is of the first. */
  changes?: PayloadPath;
}

/** One code-hosting service, complete: a further service is a further row of the table. */
export interface WebhookService {
  label: string;
  eventHeader: string;
  /** Ordered: the first header that is present names the delivery. */
  deliveryHeaders: readonly string[];
  /**
   * Identity of a delivery without any such header: a digest of the body, valid for `windowSeconds`,
   * or for ever when null.
   */
  deliveryDigest: { algorithm: 'sha1' | 'sha256'; windowSeconds: number | null };
  signature: SignatureRule;
  /** Events that the service sends without a signature; they are never listed and never launch. */
  unsignedEvents: readonly string[];
  /** Connection tests. */
  pingEvents: readonly string[];
  /** Where an event says what was done, such as `opened`; null when its name says it already. */
  action: PayloadPath | null;
  /** Form field that carries the JSON when the hook is set to form encoding; null when the service has no such mode. */
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
    label: 'Service A',
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
      commit_comment: { ref: 'comment.commit_id' },
      create: { ref: 'ref', refName: 'ref' },
      page_build: { ref: 'build.commit' },
    },
    status: {
      // The service has no word for a run in progress other than the one already posted.
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
      publicHosts: ['api.github.com'],
    },
  },
  service_b: {
    label: 'Service B',
    eventHeader: 'X-Service-B-Event',
    deliveryHeaders: ['Idempotency-Key', 'webhook-id', 'X-Service-B-Delivery'],
    // Two equal pushes give equal bodies, so the digest must not block the second one for ever.
    deliveryDigest: { algorithm: 'sha1', windowSeconds: DAY_SECONDS },
    signature: { kind: 'token', header: 'X-Service-B-Token' },
    unsignedEvents: [],
    pingEvents: [],
    action: 'object_attributes.action',
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
      publicHosts: ['gitlab.com'],
    },
  },
  service_c_dc: {
    label: 'Service C',
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

/** All services in the contract's order: choices of `webhook_service` and the receivers' path words. */
export const WEBHOOK_SERVICE_NAMES = keysOf(TABLE);

/** Choices of `webhook_service`. */
export const WEBHOOK_SERVICES: readonly (readonly [name: string, label: string])[] = [
  ['', 'None'],
  ...WEBHOOK_SERVICE_NAMES.map((name) => [name, TABLE[name].label] as const),
];

/** Whether a text is one of the contract's service names; names of real services are not. */
export function isWebhookServiceName(name: string): name is WebhookServiceName {
  return Object.hasOwn(TABLE, name);
}

/** The table row of a service. */
export function webhookService(name: WebhookServiceName): WebhookService {
  return TABLE[name];
}

/** How the service's table row reads an event; undefined for an event that launches nothing. */
export function eventRule(name: WebhookServiceName, type: string): EventRule | undefined {
  const { events } = webhookService(name);
  return Object.hasOwn(events, type) ? events[type] : undefined;
}

/** Namespace of the credential type whose token posts statuses to a service. */
export function tokenTypeNamespace(name: WebhookServiceName): `${WebhookServiceName}_token` {
  return `${name}_token`;
}

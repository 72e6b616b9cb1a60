import { createHash } from 'node:crypto';
import { sign } from '../../../src/webhooks/signature.js';
import {
  WEBHOOK_SERVICE_NAMES,
  webhookService,
  type WebhookServiceName,
} from '../../../src/webhooks/services.js';

type Json = Record<string, unknown>;

/** One row of the contract's event table: a payload of real shape and what must be read from it. */
export interface WebhookSample {
  service: WebhookServiceName;
  event: string;
  payload: Json;
  ref: string;
  refName: string | null;
  headRef: string;
  statusApi: string | null;
}

/** Where the three services are installed; B and C live under a path of their host. */
export const SERVICE_URLS = {
  service_a: 'https://api.a.example.com',
  service_b: 'https://b.example.com/code',
  service_c_dc: 'https://c.example.com/scm',
} as const;

/** A real hook body is about this large. */
export const REAL_PAYLOAD_BYTES = 25_000;

const commit = (word: string): string => createHash('sha1').update(word).digest('hex');

export const COMMITS = {
  before: commit('before'),
  after: commit('after'),
  head: commit('head'),
  target: commit('target'),
} as const;

const A = SERVICE_URLS.service_a;
const B = SERVICE_URLS.service_b;
const C = SERVICE_URLS.service_c_dc;

const ownerOfA = { login: 'octo', id: 7, type: 'User', site_admin: false };
const repositoryOfA = {
  id: 42,
  name: 'site',
  full_name: 'octo/site',
  private: false,
  owner: ownerOfA,
  default_branch: 'main',
  statuses_url: `${A}/repos/octo/site/statuses/{sha}`,
};
const pullRequestOfA = {
  id: 99,
  number: 12,
  state: 'open',
  title: 'Add a page',
  head: { ref: 'feature/page', sha: COMMITS.head, label: 'octo:feature/page' },
  base: { ref: 'main', sha: COMMITS.target, label: 'octo:main' },
  statuses_url: `${A}/repos/octo/site/statuses/${COMMITS.head}`,
};

interface Expected {
  ref: string;
  refName?: string;
  headRef?: string;
  statusApi?: string;
}

function sample(
  service: WebhookServiceName,
  event: string,
  payload: Json,
  { ref, refName, headRef, statusApi }: Expected,
): WebhookSample {
  return {
    service,
    event,
    payload,
    ref,
    refName: refName ?? null,
    headRef: headRef ?? ref,
    statusApi: statusApi ?? null,
  };
}

function samplesOfA(): WebhookSample[] {
  const common = { repository: repositoryOfA, sender: ownerOfA };
  const head = { ref: COMMITS.head, refName: 'feature/page' };
  const review = { ...common, action: 'submitted', pull_request: pullRequestOfA };
  const of = (event: string, payload: Json, expected: Expected) =>
    sample('service_a', event, { ...common, ...payload }, expected);
  return [
    of(
      'push',
      { ref: 'refs/heads/main', before: COMMITS.before, after: COMMITS.after, deleted: false },
      {
        ref: COMMITS.after,
        refName: 'refs/heads/main',
        statusApi: `${A}/repos/octo/site/statuses/${COMMITS.after}`,
      },
    ),
    of(
      'pull_request',
      { action: 'opened', number: 12, pull_request: pullRequestOfA },
      { ...head, statusApi: pullRequestOfA.statuses_url },
    ),
    of('pull_request_review', { ...review, review: { id: 5, state: 'approved' } }, head),
    of('pull_request_review_comment', { ...review, comment: { id: 6, body: 'Nice' } }, head),
    of(
      'release',
      { action: 'published', release: { id: 3, tag_name: 'v1.2.0', draft: false } },
      { ref: 'v1.2.0', refName: 'v1.2.0' },
    ),
    of(
      'commit_comment',
      { action: 'created', comment: { id: 8, commit_id: COMMITS.head, body: 'Why?' } },
      { ref: COMMITS.head },
    ),
    of(
      'create',
      { ref: 'feature/page', ref_type: 'branch', master_branch: 'main' },
      { ref: 'feature/page', refName: 'feature/page' },
    ),
    of(
      'page_build',
      { id: 4, build: { status: 'built', commit: COMMITS.after, duration: 2104 } },
      { ref: COMMITS.after },
    ),
  ];
}

function samplesOfB(): WebhookSample[] {
  const project = {
    id: 15,
    name: 'site',
    web_url: `${B}/group/sub/site`,
    path_with_namespace: 'group/sub/site',
    default_branch: 'main',
  };
  const status = (ref: string) => `${B}/api/v4/projects/15/statuses/${ref}`;
  const push = { project_id: 15, project, before: COMMITS.before, after: COMMITS.after };
  return [
    sample(
      'service_b',
      'Push Hook',
      { object_kind: 'push', ref: 'refs/heads/main', checkout_sha: COMMITS.after, ...push },
      { ref: COMMITS.after, refName: 'refs/heads/main', statusApi: status(COMMITS.after) },
    ),
    sample(
      'service_b',
      'Tag Push Hook',
      { object_kind: 'tag_push', ref: 'refs/tags/v1', checkout_sha: COMMITS.after, ...push },
      { ref: COMMITS.after, refName: 'refs/tags/v1', statusApi: status(COMMITS.after) },
    ),
    sample(
      'service_b',
      'Merge Request Hook',
      {
        object_kind: 'merge_request',
        project,
        object_attributes: {
          id: 99,
          action: 'open',
          source_branch: 'feature/page',
          target_branch: 'main',
          last_commit: { id: COMMITS.head, message: 'Add a page' },
        },
      },
      { ref: COMMITS.head, refName: 'feature/page', statusApi: status(COMMITS.head) },
    ),
  ];
}

function samplesOfC(): WebhookSample[] {
  const links = (path: string) => ({ self: [{ href: `${C}${path}` }] });
  const actor = { name: 'admin', id: 1, active: true, links: links('/users/admin') };
  const repository = { slug: 'site', id: 84, links: links('/projects/WEB/repos/site/browse') };
  const status = (ref: string) => `${C}/rest/build-status/1.0/commits/${ref}`;
  const changes = {
    ref: COMMITS.after,
    refName: 'refs/heads/main',
    statusApi: status(COMMITS.after),
  };
  const change = {
    ref: { id: 'refs/heads/main', displayId: 'main', type: 'BRANCH' },
    refId: 'refs/heads/main',
    fromHash: COMMITS.before,
    toHash: COMMITS.after,
    type: 'UPDATE',
  };
  const pullRequest = {
    id: 11,
    version: 1,
    title: 'Add a page',
    state: 'OPEN',
    fromRef: { id: 'refs/heads/feature/page', latestCommit: COMMITS.head, repository },
    toRef: { id: 'refs/heads/main', latestCommit: COMMITS.target, repository },
  };
  const merge = {
    ref: COMMITS.target,
    refName: 'refs/heads/feature/page',
    headRef: COMMITS.head,
    statusApi: status(COMMITS.target),
  };
  const of = (event: string, payload: Json, expected: Expected) =>
    sample(
      'service_c_dc',
      event,
      { eventKey: event, date: '2026-01-05T10:00:00+0000', ...payload },
      expected,
    );
  return [
    of('repo:refs_changed', { actor, repository, changes: [change] }, changes),
    // A synchronisation has no acting user: the repository's link is the only one.
    of('mirror:repo_synchronized', { repository, changes: [change] }, changes),
    of('pr:opened', { actor, pullRequest }, merge),
    of('pr:from_ref_updated', { actor, pullRequest, previousFromHash: COMMITS.before }, merge),
    of('pr:modified', { actor, pullRequest, previousTitle: 'A page' }, merge),
  ];
}

/** Every event row of the contract. */
export const WEBHOOK_SAMPLES: readonly WebhookSample[] = [
  ...samplesOfA(),
  ...samplesOfB(),
  ...samplesOfC(),
];

/** The sample of one event. */
export function webhookSample(service: WebhookServiceName, event: string): WebhookSample {
  const found = WEBHOOK_SAMPLES.find((item) => item.service === service && item.event === event);
  if (!found) throw new Error(`No sample for ${service} ${event}`);
  return found;
}

/** The payload with commits added until its JSON has at least `bytes` bytes, as a real push of many commits has. */
export function padPayload(payload: Json, bytes: number = REAL_PAYLOAD_BYTES): Json {
  const commits: Json[] = [];
  const padded = { ...payload, commits };
  let missing = bytes - Buffer.byteLength(JSON.stringify(padded));
  while (missing > 0) {
    const entry = {
      id: commit(`commit ${commits.length}`),
      message: `Change number ${commits.length}`,
      timestamp: '2026-01-05T10:00:00Z',
      author: { name: 'Grace Hopper', email: 'grace@example.com' },
      added: [`roles/web/tasks/part_${commits.length}.yml`],
      modified: ['playbooks/site.yml'],
      removed: [],
    };
    commits.push(entry);
    missing -= Buffer.byteLength(JSON.stringify(entry)) + 1;
  }
  return padded;
}

export interface DeliveryOptions {
  /** Delivery id; left out when undefined. */
  delivery?: string;
  contentType?: string;
}

/** Headers of a correctly signed delivery, under our header names. */
export function deliveryHeaders(
  service: WebhookServiceName,
  event: string,
  rawBody: Uint8Array,
  key: string,
  { delivery, contentType = 'application/json' }: DeliveryOptions = {},
): Record<string, string> {
  const row = webhookService(service);
  const deliveryHeader = row.deliveryHeaders.find((name) => name.startsWith('X-Service'));
  const headers: Record<string, string> = { 'Content-Type': contentType, [row.eventHeader]: event };
  if (delivery !== undefined && deliveryHeader !== undefined) headers[deliveryHeader] = delivery;
  if (row.signature.kind === 'token') return { ...headers, [row.signature.header]: key };
  const [strongest] = row.signature.headers;
  const [algorithm] = strongest?.algorithms ?? [];
  if (strongest && algorithm) headers[strongest.name] = sign(algorithm, rawBody, key);
  return headers;
}

/** The services as a table for `it.each`. */
export const SERVICE_ROWS: readonly [WebhookServiceName][] = WEBHOOK_SERVICE_NAMES.map((name) => [
  name,
]);

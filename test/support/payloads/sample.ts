import { createHash } from 'node:crypto';

import type { WebhookServiceName } from '../../../src/code-hosts/services.js';

export type Json = Record<string, unknown>;

/** Row of the contract's event table: a realistic payload, and the expected values. */
export interface WebhookSample {
  service: WebhookServiceName;
  event: string;
  payload: Json;
  ref: string;
  refName: string | null;
  headRef: string;
  statusApi: string | null;
  /** Ref of a push, if a later push to the same ref may replace it. */
  pushRef: string | null;
}

/** URLs of the three services. B and C are installed below a path of their host. */
export const SERVICE_URLS = {
  service_a: 'https://api.a.example.com',
  service_b: 'https://b.example.com/code',
  service_c_dc: 'https://c.example.com/scm',
} as const;

/** Returns a commit id that is the same in every run. */
export const commitId = (word: string): string => createHash('sha1').update(word).digest('hex');

export const COMMITS = {
  before: commitId('before'),
  after: commitId('after'),
  head: commitId('head'),
  target: commitId('target'),
} as const;

interface Expected {
  ref: string;
  refName?: string;
  headRef?: string;
  statusApi?: string;
  pushRef?: string;
}

export function sample(
  service: WebhookServiceName,
  event: string,
  payload: Json,
  { ref, refName, headRef, statusApi, pushRef }: Expected,
): WebhookSample {
  return {
    service,
    event,
    payload,
    ref,
    refName: refName ?? null,
    headRef: headRef ?? ref,
    statusApi: statusApi ?? null,
    pushRef: pushRef ?? null,
  };
}

/** Subjects of the commits of a push, as many as on a busy day. */
export const CHANGES: readonly string[] = [
  'Restart the web servers one by one',
  'Renew the certificates of the mail hosts',
  'Add the database of the new tenant',
  'Raise the limits of open files',
  'Take the old balancer out of the inventory',
  'Keep backups for ninety days',
  'Move the secrets into the vault',
  'Describe how to roll a release back',
  'Check the disks before a release',
  'Fix a typing error in the firewall rules',
  'Use the packages of the distribution',
  'Wait for the queue to drain',
];

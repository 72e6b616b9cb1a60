import { createHash } from 'node:crypto';
import type { WebhookServiceName } from '../../../src/code-hosts/services.js';

export type Json = Record<string, unknown>;

/** One row of the contract's event table: a payload of real shape and size, and what must be read from it. */
export interface WebhookSample {
  service: WebhookServiceName;
  event: string;
  payload: Json;
  ref: string;
  refName: string | null;
  headRef: string;
  statusApi: string | null;
  /** The ref of a push, which a later push to it may take the place of. */
  pushRef: string | null;
}

/** Where the three services are installed; B and C live under a path of their host. */
export const SERVICE_URLS = {
  service_a: 'https://api.a.example.com',
  service_b: 'https://b.example.com/code',
  service_c_dc: 'https://c.example.com/scm',
} as const;

/** A commit id that is the same in every run. */
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

/** What the commits of a push are about; as many as a busy day brings. */
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

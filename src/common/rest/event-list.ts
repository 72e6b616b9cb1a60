import type { Actor } from '../access.js';
import { toBoolean } from '../fields/lenient-reader.js';
import type { ListOptions } from '../list/list.service.js';
import type { QueryParameters } from '../list/query.js';
import type { Page } from '../list/page.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import type { Representation } from '../resource/representation.js';
import type { CommonServices } from './common-services.service.js';

/**
 * Lists the events of runs as objects of a resource. Each event contains at most
 * EVENT_STDOUT_MAX_BYTES_DISPLAY bytes of its output unless the query has `no_truncate`
 * (docs/contract/runs.md#lists-of-events). The output of playbooks, plays and tasks is short and
 * never truncated.
 */
export function listEvents(
  definition: ResourceDefinition,
  services: CommonServices,
  query: QueryParameters,
  actor: Actor,
  options: ListOptions,
): Promise<Page<Representation>> {
  const noTruncate = [query.no_truncate].flat()[0];
  const { EVENT_STDOUT_MAX_BYTES_DISPLAY: maxBytes } = services.settings;
  const isWhole = maxBytes === 0 || noTruncate === '' || toBoolean(noTruncate) === true;
  return services.resources.list(definition, query, actor, {
    ...options,
    ...(isWhole
      ? {}
      : { decorate: async (items) => items.map((item) => truncated(item, maxBytes)) }),
  });
}

function truncated(item: Representation, maxBytes: number): Representation {
  const { stdout, event } = item;
  if (typeof stdout !== 'string' || String(event).startsWith('playbook_on')) return item;
  const bytes = Buffer.from(stdout);
  if (bytes.length <= maxBytes) return item;
  // Removes the replacement character of a UTF-8 sequence that was cut.
  const start = bytes
    .subarray(0, maxBytes - 1)
    .toString()
    .replace(/\uFFFD$/, '');
  return { ...item, stdout: `${start}…` };
}

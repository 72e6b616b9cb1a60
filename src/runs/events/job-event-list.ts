import type { ApiRequest } from '../../common/http/request.js';
import { toBoolean } from '../../common/fields/validate.js';
import type { ListOptions } from '../../common/list/list.service.js';
import type { Page } from '../../common/list/page.js';
import type { Representation } from '../../common/resource/represent.js';
import type { ResourceService } from '../../common/rest/resource.service.js';
import { jobEvents } from './job-events.resource.js';

/**
 * Lists events, each with at most `maxBytes` of its output unless `no_truncate` is sent
 * (docs/contract/runs.md#lists-of-events). What playbook, plays and tasks print is short and always
 * whole.
 */
export function listJobEvents(
  resources: ResourceService,
  { query, actor }: Pick<ApiRequest, 'query' | 'actor'>,
  maxBytes: number,
  options: ListOptions,
): Promise<Page<Representation>> {
  const word = [query.no_truncate].flat()[0];
  const isWhole = word !== undefined && (word === '' || toBoolean(word) === true);
  return resources.list(jobEvents, query, actor, {
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
  // A character that was cut through is left out.
  const kept = bytes
    .subarray(0, maxBytes - 1)
    .toString()
    .replace(/\uFFFD$/, '');
  return { ...item, stdout: `${kept}…` };
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import * as json from '../common/fields/json-schema.js';
import { TextSearch, type SearchResult } from '../common/list/text-search.service.js';
import {
  wholeNumberOf,
  searchTerms,
  type QueryParameters,
  valuesOf,
} from '../common/list/query.js';
import { resource, type ResourceDefinition } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';

/** Types of the searched objects, in the order of the page. */
const TYPES = [
  'job_template',
  'workflow_job_template',
  'project',
  'inventory',
  'host',
  'group',
  'schedule',
  'credential',
  'notification_template',
  'organization',
  'team',
  'user',
  'label',
  'job',
  'workflow_job',
] as const;

/** The query parameters of a search, for OpenAPI. */
export const SEARCH_PARAMETERS = [
  {
    name: 'q',
    description: 'Words that an object must contain in any of its texts.',
    schema: json.STRING,
  },
  {
    name: 'type',
    description: 'Kinds of objects, separated by commas; all kinds by default.',
    schema: json.STRING,
  },
  {
    name: 'limit',
    description: 'Maximum number of objects of each kind: 1 to 50, 5 by default.',
    schema: json.INTEGER,
  },
] as const;

const LIMIT = { absent: 5, max: 50 };

/** The objects of one resource that a search found. */
export interface SearchGroup {
  type: string;
  /** Display name, such as "Job Template". */
  label: string;
  /** URL of the list with all results. */
  url: string;
  /** True if the list has more objects than `results`. */
  has_more: boolean;
  results: (SearchResult & { url: string })[];
}

export interface SearchResponse {
  query: string;
  groups: SearchGroup[];
}

/** Searches the resources of many types by words (docs/contract/lists.md#search-everywhere). */
@Injectable()
export class SearchService {
  constructor(
    private readonly texts: TextSearch,
    private readonly resources: ResourceService,
  ) {}

  /** @throws BadRequest for invalid parameters */
  async find(parameters: QueryParameters, actor: Actor): Promise<SearchResponse> {
    const query = valuesOf(parameters.q).join(' ').trim();
    const limit = wholeNumberOf(parameters, 'limit', LIMIT);
    const definitions = requestedTypes(
      valuesOf(parameters.type).flatMap((value) => value.split(',')),
    );
    if (searchTerms(query).length === 0) return { query, groups: [] };
    const numbered = await this.byNumber(query, definitions, actor);
    const named = (await this.texts.search(definitions, query, actor, limit + 1)).filter(
      ({ type, id }) => !numbered.some((run) => run.type === type && run.id === id),
    );
    const hits = [...numbered, ...named];
    const groups = definitions.map((definition) => {
      const hitsOfType = hits.filter(({ type }) => type === definition.type);
      return groupOf(definition, query, hitsOfType, limit);
    });
    return { query, groups: groups.filter(({ results }) => results.length > 0) };
  }

  /** Returns the run whose id a query such as `#34` contains, if any. */
  private async byNumber(
    query: string,
    definitions: readonly ResourceDefinition[],
    actor: Actor,
  ): Promise<SearchResult[]> {
    const id = /^#(\d{1,15})$/.exec(query)?.[1];
    if (id === undefined) return [];
    const hits: SearchResult[] = [];
    for (const definition of definitions.filter(({ type }) => NUMBERED_TYPES.has(type))) {
      const page = { id, count_disabled: '1' };
      const { results } = await this.resources.list(definition, page, actor);
      for (const { name, description, status } of results) {
        const texts = { name: String(name), description: String(description ?? '') };
        hits.push({ type: definition.type, id: Number(id), ...texts, status: String(status) });
      }
    }
    return hits;
  }
}

/** Types of runs, which users identify by their numbers. */
const NUMBERED_TYPES: ReadonlySet<string> = new Set(['job', 'workflow_job']);

function groupOf(
  { type, label, path, url }: ResourceDefinition,
  query: string,
  hits: readonly SearchResult[],
  limit: number,
): SearchGroup {
  return {
    type,
    label,
    url: `/api/v2/${path}/?${new URLSearchParams({ search: query }).toString()}`,
    has_more: hits.length > limit,
    results: hits.slice(0, limit).map((hit) => ({ ...hit, url: url(hit.id) })),
  };
}

function requestedTypes(types: readonly string[]): readonly ResourceDefinition[] {
  const all = TYPES.map((type) => resource(type));
  const unknown = types.find((type) => !all.some((known) => known.type === type));
  if (unknown !== undefined) {
    const known = all.map(({ type }) => type).join(', ');
    throw new BadRequest(`type must be one of ${known}, not "${unknown}".`);
  }
  return types.length === 0 ? all : all.filter(({ type }) => types.includes(type));
}

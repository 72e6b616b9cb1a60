import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { and, ident, join, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { FilterCompiler, searchFields } from './filter-compiler.js';
import { parseListQuery } from './query.js';
import { withListTimeout } from './time-limit.js';

export interface SearchResult {
  type: string;
  id: number;
  name: string;
  description: string;
  /** Status of a run; null for other objects. */
  status: string | null;
}

/** Searches several resources with one statement, like the search of lists (docs/contract/lists.md#search). */
@Injectable()
export class TextSearch {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /**
   * Returns readable objects that contain every word.
   *
   * @param limit maximum number per resource. Exact names come first, then names that begin with the text,
   *   then the newest
   */
  async search(
    definitions: readonly ResourceDefinition[],
    words: string,
    actor: Actor,
    limit: number,
  ): Promise<SearchResult[]> {
    const parts = definitions.map((definition) => sql`(${query(definition, words, actor, limit)})`);
    if (parts.length === 0) return [];
    return withListTimeout(this.database, this.settings, () =>
      this.database.rows<SearchResult>(join(parts, ' UNION ALL ')),
    );
  }
}

function query(definition: ResourceDefinition, words: string, actor: Actor, limit: number): Sql {
  const name = nameOf(definition);
  const filters = new FilterCompiler(actor, () => null).compile(
    definition,
    't',
    parseListQuery({ search: words }),
  );
  const where = and(
    definition.partCondition('t'),
    definition.unhidden?.('t') ?? TRUE,
    permit(definition.policy, 'list', 't', actor),
    filters,
  );
  return sql`
    SELECT ${definition.type}::text AS type, t.id, ${name}::text AS name,
      ${definition.field('description')?.column ? ident('t', 'description') : sql`''`} AS description,
      ${isRun(definition) ? ident('t', 'status') : sql`NULL::text`} AS status
    FROM ${ident(definition.table)} t WHERE ${where}
    ORDER BY lower(${name}) = lower(${words}) DESC,
      starts_with(lower(${name}), lower(${words})) DESC, t.id DESC
    LIMIT ${limit}`;
}

/** Returns the column with the display name: the name, the first searchable field, or the id. */
function nameOf(definition: ResourceDefinition): Sql {
  const field = definition.field('name') ?? searchFields(definition)[0];
  return ident('t', field?.column ?? 'id');
}

const isRun = (definition: ResourceDefinition): boolean =>
  definition.field('finished') !== undefined;

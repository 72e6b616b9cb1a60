import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { ident } from '../../database/sql.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { resources } from '../resource/registry.js';
import { commonAmong, sampleOf, type CommonTrigrams } from './common-trigrams.js';

/** For so long, in ms, what many texts of a table share is believed to stay. */
const BELIEVED_MS = 10 * 60_000;
const NONE: CommonTrigrams = new Map();

/**
 * Knows what the texts of long tables have in common. It decides how they are searched, never what is
 * found (docs/decisions/0117-searches-by-what-tells.md).
 */
@Injectable()
export class SharedTexts {
  private readonly known = new Map<string, { common: Promise<CommonTrigrams>; until: number }>();

  constructor(private readonly database: Database) {}

  /** What many texts share in the columns of a resource that have an index of trigrams. */
  of(definition: ResourceDefinition): Promise<CommonTrigrams> {
    const { table } = definition;
    const now = performance.now();
    const known = this.known.get(table);
    if (known && known.until > now) return known.common;
    const columns = resources()
      .filter((other) => other.table === table)
      .flatMap(({ indexes }) => indexes.filter(({ trigrams }) => trigrams))
      .flatMap((index) => index.columns);
    if (columns.length === 0) return Promise.resolve(NONE);
    const common = this.lookAt(table, columns);
    this.known.set(table, { common, until: now + BELIEVED_MS });
    common.catch(() => this.known.delete(table));
    return common;
  }

  private async lookAt(table: string, columns: readonly string[]): Promise<CommonTrigrams> {
    const rows = await this.database.rows<Record<string, string | null>>(
      sampleOf(
        ident(table),
        columns.map((column) => ident(column)),
      ),
    );
    return new Map(
      columns.map((column) => [column, commonAmong(rows.map((row) => row[column] ?? ''))]),
    );
  }
}

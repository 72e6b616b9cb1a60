import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { ident } from '../../database/sql.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { resources } from '../resource/registry.js';
import { Turns } from '../turns.js';
import { sampleOf, TextSample, type ColumnSamples } from './text-sample.js';

/** For so long, in ms, the texts of a table are believed to stay like the sample. */
const BELIEVED_MS = 10 * 60_000;
const NONE: ColumnSamples = new Map();

/**
 * Knows what the texts of long tables are like. It decides how they are searched, never what is found
 * (docs/decisions/0117-search.md).
 */
@Injectable()
export class TextSamples {
  private readonly known = new Map<string, { samples: Promise<ColumnSamples>; until: number }>();

  constructor(private readonly database: Database) {}

  /** Samples of the columns of a resource that have an index of trigrams. */
  of(definition: ResourceDefinition): Promise<ColumnSamples> {
    const { table } = definition;
    const now = performance.now();
    const known = this.known.get(table);
    if (known && known.until > now) return known.samples;
    const columns = resources()
      .filter((other) => other.table === table)
      .flatMap(({ indexes }) => indexes.filter(({ trigrams }) => trigrams))
      .flatMap((index) => index.columns);
    if (columns.length === 0) return Promise.resolve(NONE);
    const samples = this.lookAt(table, columns);
    this.known.set(table, { samples, until: now + BELIEVED_MS });
    samples.catch(() => this.known.delete(table));
    return samples;
  }

  private async lookAt(table: string, columns: readonly string[]): Promise<ColumnSamples> {
    const rows = await this.database.rows<Record<string, string | null>>(
      sampleOf(
        ident(table),
        columns.map((column) => ident(column)),
      ),
    );
    const samples = new Map(columns.map((column) => [column, new TextSample()]));
    const turns = new Turns();
    for (const row of rows) {
      for (const [column, sample] of samples) sample.add(row[column] ?? '');
      await turns.next();
    }
    return samples;
  }
}

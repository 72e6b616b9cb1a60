import type { DataSource, EntityManager } from 'typeorm';
import { entriesOf, ExactNumber, exactJson, recordOf } from '../common/exact-json.js';
import '../common/json-columns.js';
import { isSealed, rowContext, SecretBox, UnsealError } from '../common/crypto/secret-box.js';
import { Settings } from '../config/settings.js';
import { withDatabase } from './migrate.js';

/** Number of rows that are locked at the same time. */
const BATCH = 500;

type RowKey = number | string;
type SealedColumn = readonly [table: string, column: string, key?: string];

/** All columns with sealed (encrypted) texts, either alone or inside JSON. */
const SEALED_COLUMNS: readonly SealedColumn[] = [
  ['credentials', 'inputs'],
  ['notification_templates', 'notification_configuration'],
  ['authenticators', 'configuration'],
  ['totp_secrets', 'secret'],
  ['settings', 'value', 'name'],
  ['signing_keys', 'private_key'],
  ['unified_job_templates', 'webhook_key'],
  ['unified_job_templates', 'survey_spec'],
  ['schedules', 'survey_passwords'],
  ['unified_jobs', 'start_args'],
  ['unified_jobs', 'launch_config'],
  ['unified_jobs', 'secret_artifacts'],
  ['workflow_job_nodes', 'secret_artifacts'],
  ['workflow_job_template_nodes', 'survey_passwords'],
];

/**
 * Seals every stored secret with the current key. Start the command with SECRET_KEY set to the new key
 * and SECRET_KEY_OLD to the previous one; afterwards the old key can be removed. Safe to repeat. A text
 * that neither key opens is left unchanged, because variables can contain text that only looks sealed.
 */
export async function rotateSecretKey(): Promise<number> {
  const { SECRET_KEY, SECRET_KEY_OLD } = Settings.load(process.env);
  if (SECRET_KEY_OLD === '') {
    process.stderr.write('Set SECRET_KEY to the new key and SECRET_KEY_OLD to the previous one.\n');
    return 2;
  }
  const box = new SecretBox(SECRET_KEY, SECRET_KEY_OLD);
  await withDatabase(async ({ dataSource }) => {
    for (const sealed of SEALED_COLUMNS) {
      const [table, column] = sealed;
      const { changed, left } = await resealColumn(dataSource, box, sealed);
      const rest = left > 0 ? `, ${left} texts unchanged that neither key decrypts` : '';
      process.stdout.write(`${table}.${column}: ${changed} rows encrypted again${rest}\n`);
    }
  });
  return 0;
}

/**
 * Tests the keys with the secrets in the newest row of each column, and counts them by result; `outdated`: opened
 * with the previous key only. A rotation changes the newest rows last.
 */
export async function tryKey(
  source: DataSource,
  box: SecretBox,
): Promise<{ opened: number; outdated: number; left: number }> {
  let opened = 0;
  let outdated = 0;
  let left = 0;
  for (const [table, column, key = 'id'] of SEALED_COLUMNS) {
    const rows: { id: RowKey; value: unknown }[] = await source.query(
      `SELECT ${key} AS id, ${column} AS value FROM ${table}
       WHERE ${column}::text LIKE '%$sealed$%' ORDER BY ${key} DESC LIMIT 1`,
    );
    for (const { id, value } of rows) {
      walk(value, column, (text, field) => {
        try {
          box.open(text, rowContext(table, id, field));
          opened++;
          if (box.needsReseal(text)) outdated++;
        } catch (error) {
          if (!(error instanceof UnsealError)) throw error;
          left++;
        }
        return text;
      });
    }
  }
  return { opened, outdated, left };
}

/**
 * Seals a column in batches, each in a short transaction: workers renew leases of runs and the scheduler
 * starts runs between two batches.
 */
async function resealColumn(
  source: DataSource,
  box: SecretBox,
  sealed: SealedColumn,
): Promise<{ changed: number; left: number }> {
  const total = { changed: 0, left: 0 };
  let last: RowKey | undefined;
  do {
    const after = last ?? null;
    const batch: ResealedBatch = await source.transaction((manager) =>
      resealBatch(manager, box, sealed, after),
    );
    total.changed += batch.changed;
    total.left += batch.left;
    last = batch.last;
  } while (last !== undefined);
  return total;
}

interface ResealedBatch {
  changed: number;
  /** Number of texts that no key opens. */
  left: number;
  /** Key of the last row; undefined if no rows follow. */
  last: RowKey | undefined;
}

/**
 * Seals the next rows of a column.
 *
 * @param after key of the last row of the previous batch; null for the first batch
 */
async function resealBatch(
  manager: EntityManager,
  box: SecretBox,
  [table, column, key = 'id']: SealedColumn,
  after: RowKey | null,
): Promise<ResealedBatch> {
  const rows: { id: RowKey; value: unknown; isJson: boolean }[] = await manager.query(
    `SELECT ${key} AS id, ${column} AS value, pg_typeof(${column})::text LIKE 'json%' AS "isJson" FROM ${table}
     WHERE ${column}::text LIKE '%$sealed$%' ${after === null ? '' : `AND ${key} > $1`}
     ORDER BY ${key} LIMIT ${BATCH} FOR UPDATE`,
    after === null ? [] : [after],
  );
  let changed = 0;
  let left = 0;
  for (const { id, value, isJson } of rows) {
    const sealed = walk(value, column, (text, field) => {
      const context = rowContext(table, id, field);
      if (!box.needsReseal(text)) return text;
      try {
        return box.seal(box.open(text, context), context);
      } catch (error) {
        if (!(error instanceof UnsealError)) throw error;
        left++;
        return text;
      }
    });
    const stored = isJson ? exactJson(sealed) : sealed;
    if (stored === (isJson ? exactJson(value) : value)) continue;
    await manager.query(`UPDATE ${table} SET ${column} = $1 WHERE ${key} = $2`, [stored, id]);
    changed++;
  }
  return { changed, left, last: rows.length < BATCH ? undefined : rows.at(-1)?.id };
}

/** Replaces sealed texts. Inside an object, a text was sealed for the field with the name of its key. */
function walk(
  value: unknown,
  field: string,
  replace: (text: string, field: string) => string,
): unknown {
  if (typeof value === 'string') return isSealed(value) ? replace(value, field) : value;
  if (Array.isArray(value)) return value.map((item) => walk(item, field, replace));
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return value;
  return recordOf(entriesOf(value).map(([key, item]) => [key, walk(item, key, replace)] as const));
}

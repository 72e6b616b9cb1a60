import { exactJson } from '../common/exact-json.js';
import { isRecord, parseRecord } from '../common/records.js';
import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';

type Variables = Readonly<Record<string, unknown>>;

/** Values that runs of a workflow pass on with `set_stats`; no name is in both parts. */
export interface Artifacts {
  open: Variables;
  /** Values set under `no_log`: must never be displayed or logged. */
  secret: Variables;
}

/** Tables with a column `secret_artifacts`. */
type ArtifactTable = 'unified_jobs' | 'workflow_job_nodes';

const contextOf = (table: ArtifactTable, id: number): string =>
  rowContext(table, id, 'secret_artifacts');

/** Returns the value of a row's column `secret_artifacts`; empty without secret artifacts. */
export const sealArtifacts = (
  box: SecretBox,
  table: ArtifactTable,
  id: number,
  secret: Variables,
): string =>
  Object.keys(secret).length === 0 ? '' : box.seal(exactJson(secret), contextOf(table, id));

/**
 * Returns the artifacts of a row.
 *
 * @param columns `open`: JSON column, ignored unless it is an object; `sealed`: column
 *   `secret_artifacts`, null or empty without secrets
 * @throws UnsealError if the secrets cannot be decrypted with the installation's keys
 */
export function openArtifacts(
  box: SecretBox,
  table: ArtifactTable,
  id: number,
  columns: { open: unknown; sealed: string | null },
): Artifacts {
  const { open, sealed } = columns;
  return {
    open: isRecord(open) ? open : {},
    secret: sealed ? parseRecord(box.open(sealed, contextOf(table, id))) : {},
  };
}

/** Merges artifacts. For each name the last artifact determines the value and the secrecy. */
export function mergeArtifacts(parts: readonly Artifacts[]): Artifacts {
  const merged = new Map<string, { value: unknown; isSecret: boolean }>();
  for (const { open, secret } of parts) {
    for (const [name, value] of Object.entries(open)) merged.set(name, { value, isSecret: false });
    for (const [name, value] of Object.entries(secret)) merged.set(name, { value, isSecret: true });
  }
  const part = (wantsSecret: boolean): Variables =>
    Object.fromEntries(
      [...merged]
        .filter(([, { isSecret }]) => isSecret === wantsSecret)
        .map(([name, { value }]) => [name, value]),
    );
  return { open: part(false), secret: part(true) };
}

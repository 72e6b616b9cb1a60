import { exactJson } from '../common/exact-json.js';
import { parseRecord } from '../common/records.js';
import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';

type Variables = Readonly<Record<string, unknown>>;

/** What runs of a workflow hand on with `set_stats`; no name is in both parts. */
export interface Artifacts {
  open: Variables;
  /** Set under `no_log`: never to be shown or logged. */
  secret: Variables;
}

/** Tables with a column `secret_artifacts`. */
type Keeper = 'unified_jobs' | 'workflow_job_nodes';

const contextOf = (table: Keeper, id: number): string => rowContext(table, id, 'secret_artifacts');

/** The column `secret_artifacts` of a row; empty without any. */
export const sealArtifacts = (
  box: SecretBox,
  table: Keeper,
  id: number,
  secret: Variables,
): string =>
  Object.keys(secret).length === 0 ? '' : box.seal(exactJson(secret), contextOf(table, id));

/**
 * The artifacts of a row.
 *
 * @param open its JSON column; anything but an object hands on nothing
 * @param sealed its column `secret_artifacts`; null and empty: nothing secret
 * @throws UnsealError when they cannot be opened with the installation's keys
 */
export function openArtifacts(
  box: SecretBox,
  table: Keeper,
  id: number,
  columns: { open: unknown; sealed: string | null },
): Artifacts {
  const { open, sealed } = columns;
  return {
    open: isVariables(open) ? open : {},
    secret: sealed ? parseRecord(box.open(sealed, contextOf(table, id))) : {},
  };
}

/** Later artifacts win, and decide whether a name is secret. */
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

const isVariables = (value: unknown): value is Variables =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import { entriesOf, exactJson, mergeExact, parseExact, recordOf } from '../common/exact-json.js';
import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { mapValues } from '../common/records.js';

type Variables = Readonly<Record<string, unknown>>;

/** Secret answers of a saved launch by variable, each sealed for its row. */
export type SealedAnswers = Readonly<Record<string, string>>;

/** The row of a saved launch. */
export interface SavedRow {
  table: string;
  id: number;
}

/** Stored variables of a saved launch: masked secret answers, and the sealed answers separately. */
export interface StoredVariables {
  masked: Record<string, unknown>;
  sealed: Record<string, string>;
}

/**
 * Seals the secret answers for their row. A masked answer keeps the stored answer; without a stored
 * answer, the masked answer is dropped.
 *
 * @param secretNames names of the secret variables
 * @param stored stored sealed answers of the row
 */
export function sealAnswers(
  box: SecretBox,
  row: SavedRow,
  variables: Variables,
  secretNames: readonly string[],
  stored: SealedAnswers = {},
): StoredVariables {
  const masked: [string, unknown][] = [];
  const sealed: Record<string, string> = {};
  for (const [name, value] of entriesOf(variables)) {
    if (!secretNames.includes(name)) {
      masked.push([name, value]);
      continue;
    }
    const storedAnswer = value === ENCRYPTED ? stored[name] : undefined;
    if (value === ENCRYPTED && storedAnswer === undefined) continue;
    masked.push([name, ENCRYPTED]);
    sealed[name] = storedAnswer ?? box.seal(exactJson(value), rowContext(row.table, row.id, name));
  }
  return { masked: recordOf(masked), sealed };
}

/**
 * Returns the variables of a saved launch with decrypted secret answers.
 *
 * @throws UnsealError if they cannot be decrypted with the installation's keys
 */
export function openAnswers(
  box: SecretBox,
  row: SavedRow,
  masked: Variables,
  sealed: SealedAnswers,
): Record<string, unknown> {
  const opened = mapValues(sealed, (text, name): unknown =>
    parseExact(box.open(text, rowContext(row.table, row.id, name))),
  );
  return mergeExact(masked, opened);
}

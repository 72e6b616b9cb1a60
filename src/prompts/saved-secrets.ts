import { rowContext, type SecretBox } from '../common/crypto/secret-box.js';
import { ENCRYPTED } from '../common/fields/text.js';
import { mapValues } from '../common/records.js';

type Variables = Readonly<Record<string, unknown>>;

/** Secret answers of a saved launch by variable, each sealed for its row. */
export type SealedAnswers = Readonly<Record<string, string>>;

/** The row a saved launch is stored in. */
export interface SavedRow {
  table: string;
  id: number;
}

/** Variables of a saved launch as they are stored: secret answers masked, and kept apart. */
export interface StoredVariables {
  shown: Record<string, unknown>;
  sealed: Record<string, string>;
}

/**
 * Seals the secret answers for their row. An answer sent as it was shown keeps what is stored, and is
 * dropped where nothing is.
 *
 * @param secretNames variables whose values are secret
 * @param former what the row has stored
 */
export function sealAnswers(
  box: SecretBox,
  row: SavedRow,
  variables: Variables,
  secretNames: readonly string[],
  former: SealedAnswers = {},
): StoredVariables {
  const shown: Record<string, unknown> = {};
  const sealed: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (!secretNames.includes(name)) {
      shown[name] = value;
      continue;
    }
    const kept = value === ENCRYPTED ? former[name] : undefined;
    if (value === ENCRYPTED && kept === undefined) continue;
    shown[name] = ENCRYPTED;
    sealed[name] = kept ?? box.seal(JSON.stringify(value), rowContext(row.table, row.id, name));
  }
  return { shown, sealed };
}

/**
 * The variables of a saved launch with its secret answers in clear.
 *
 * @throws UnsealError when they cannot be opened with the installation's keys
 */
export function openAnswers(
  box: SecretBox,
  row: SavedRow,
  shown: Variables,
  sealed: SealedAnswers,
): Record<string, unknown> {
  const opened = mapValues(sealed, (text, name): unknown =>
    JSON.parse(box.open(text, rowContext(row.table, row.id, name))),
  );
  return { ...shown, ...opened };
}

/** A host or group that an inventory has when a source is imported, without its variables. */
export interface KnownObject {
  readonly id: number;
  readonly name: string;
  /** MD5 of the text of its variables. */
  readonly digest: string;
  /** A source made it, and nobody by hand. */
  readonly is_imported: boolean;
  /** This source has brought it before. */
  readonly is_claimed: boolean;
  /** Other sources have brought it. */
  readonly has_others: boolean;
  /** MD5 of what this source said of it last, and of the text that came of it; null before the first time. */
  readonly delivered_digest: string | null;
  readonly merged_digest: string | null;
}

export interface KnownHost extends KnownObject {
  readonly instance_id: string;
  readonly enabled: boolean;
}

/** The variables of one object as they were stored, for merging. */
export interface StoredVariables {
  readonly id: number;
  /** JSON or YAML text. */
  readonly variables: string;
  /** What this source said last, JSON; null before the first time. */
  readonly delivered: string | null;
  /** Names of variables that other sources bring. */
  readonly others: readonly string[];
}

/** What an import does to one object. */
export interface PlannedObject {
  readonly name: string;
  readonly description: string | null;
  /** Variables the source says, as JSON text; empty for none. */
  readonly delivered: string;
  readonly digest: string;
}

export interface PlannedHost extends PlannedObject {
  readonly instanceId: string;
  readonly isEnabled: boolean | null;
}

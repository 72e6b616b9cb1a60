/** An existing host or group of an inventory during an import, without its variables. */
export interface KnownObject {
  readonly id: number;
  readonly name: string;
  /** MD5 of the text of the object's variables. */
  readonly digest: string;
  /** True if a source created the object, false if a user created it. */
  readonly is_imported: boolean;
  /** True if this source delivered the object before. */
  readonly is_claimed: boolean;
  /** True if other sources delivered the object. */
  readonly has_others: boolean;
  /**
   * MD5 of this source's last delivery of the object, and of the text that resulted; null before
   * the first import.
   */
  readonly delivered_digest: string | null;
  readonly merged_digest: string | null;
}

export interface KnownHost extends KnownObject {
  readonly instance_id: string;
  readonly enabled: boolean;
}

/** The stored variables of one object, for merging. */
export interface KnownVariables {
  readonly id: number;
  /** Variables as JSON or YAML text. */
  readonly variables: string;
  /** Variables of this source's last delivery as JSON; null before the first import. */
  readonly delivered: string | null;
  /** Names of variables that other sources deliver. */
  readonly others: readonly string[];
}

/** The values of one object that an import stores. */
export interface PlannedObject {
  readonly name: string;
  readonly description: string | null;
  /** Variables of the delivery as JSON text; empty for none. */
  readonly delivered: string;
  readonly digest: string;
}

export interface PlannedHost extends PlannedObject {
  readonly instanceId: string;
  readonly isEnabled: boolean | null;
}

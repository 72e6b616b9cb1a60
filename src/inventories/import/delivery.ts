export interface DeliveredGroup {
  readonly name: string;
  /** Description; null if the source has none. */
  readonly description: string | null;
  readonly variables: ImportedVariables;
  readonly hosts: ReadonlySet<string>;
  readonly children: ReadonlySet<string>;
}

export interface DeliveredHost {
  readonly name: string;
  readonly description: string | null;
  readonly variables: ImportedVariables;
  /** Id in the source system; empty if the source has none. */
  readonly instanceId: string;
  /** Enabled state; null if the source has none. */
  readonly isEnabled: boolean | null;
}

/** The inventory that a source delivers: names are unique, and every referenced name exists. */
export interface InventoryDelivery {
  /** Variables of all hosts: they belong to the inventory itself. */
  readonly variables: ImportedVariables;
  readonly groups: ReadonlyMap<string, DeliveredGroup>;
  readonly hosts: ReadonlyMap<string, DeliveredHost>;
}

export type ImportedVariables = Readonly<Record<string, unknown>>;

/** Rules for reading the document of a source. */
export interface DeliveryRules {
  /** Rule for the enabled state from a host's variables; null: no rule. */
  readonly enabled: EnabledRule | null;
  /** Paths to a host's id in the source system; the first path with a value is used. */
  readonly instanceId: readonly string[];
  /**
   * For a constructed inventory, the ids of the original hosts by name. They replace ids in the document, whose
   * rules could name any host, and `HOST_MARKS` are not imported.
   */
  readonly originals?: ReadonlyMap<string, number>;
}

/**
 * A rule for the enabled state: a host is enabled if the first value that the paths lead to is equal to
 * `value`, ignoring case.
 */
export interface EnabledRule {
  readonly paths: readonly string[];
  /** Expected value; empty: any true value. */
  readonly value: string;
  /** True if names of variables are compared case-insensitively. */
  readonly ignoresCase: boolean;
}

/**
 * Error for a delivery that cannot be imported; `message` is written for users and names the faulty
 * object.
 */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}

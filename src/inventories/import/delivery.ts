/** What a source says of a group. */
export interface DeliveredGroup {
  readonly name: string;
  /** Null where the source says nothing. */
  readonly description: string | null;
  readonly variables: Variables;
  readonly hosts: ReadonlySet<string>;
  readonly children: ReadonlySet<string>;
}

/** What a source says of a host. */
export interface DeliveredHost {
  readonly name: string;
  readonly description: string | null;
  readonly variables: Variables;
  /** Id in the system it comes from; empty where the source knows of none. */
  readonly instanceId: string;
  /** Null where the source does not say. */
  readonly isEnabled: boolean | null;
}

/** All that a source says of an inventory: names are unique, and every name that is mentioned is there. */
export interface Delivery {
  /** Of all hosts: they are the inventory's own. */
  readonly variables: Variables;
  readonly groups: ReadonlyMap<string, DeliveredGroup>;
  readonly hosts: ReadonlyMap<string, DeliveredHost>;
}

export type Variables = Readonly<Record<string, unknown>>;

/** How the document of a source is read. */
export interface DeliveryRules {
  /** Where a host's variables say whether it is enabled; null: nowhere. */
  readonly enabled: EnabledRule | null;
  /** Where a host's variables name it in the system it comes from: paths, the first that is set. */
  readonly instanceId: readonly string[];
  /** Variables of hosts that are looked at, and not taken. */
  readonly marks?: readonly string[];
}

/** A host is enabled when what stands at one of the paths is the value. */
export interface EnabledRule {
  readonly paths: readonly string[];
  /** Empty: when it is true. */
  readonly value: string;
  /** The names of variables are matched whatever their case. */
  readonly ignoresCase: boolean;
}

/** A delivery cannot be taken; `message` is made for users and names what is at fault. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}

/** Objects of one type on which somebody holds one role, in any way. */
export interface HeldRole {
  content_type: string;
  role_field: string;
  ids: readonly number[];
}

/**
 * All that a caller holds, where it is little: statements name it, and PostgreSQL knows beforehand how
 * many rows each of these objects has.
 */
export class HeldRoles {
  constructor(private readonly held: readonly HeldRole[]) {}

  /** Ids of the objects of a type on which the caller holds a role; empty when there are none. */
  on(type: string, role: string): readonly number[] {
    const found = this.held.find((one) => one.content_type === type && one.role_field === role);
    return found?.ids ?? [];
  }

  /** The same for objects of every type on which the caller holds it. */
  onAny(role: string): readonly HeldRole[] {
    return this.held.filter(({ role_field: field }) => field === role);
  }
}

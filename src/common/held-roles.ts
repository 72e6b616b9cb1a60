/** Objects of one type on which a user holds one role, directly or indirectly. */
export interface HeldRole {
  content_type: string;
  role_field: string;
  ids: readonly number[];
}

/**
 * All roles of a user who holds at most `MAX_HELD_ROLES` roles. Statements contain the ids of the objects,
 * so that PostgreSQL can estimate the number of rows of each object.
 */
export class HeldRoles {
  constructor(private readonly roles: readonly HeldRole[]) {}

  /** Returns the ids of the objects of a type on which the caller holds a role. */
  on(type: string, role: string): readonly number[] {
    const found = this.roles.find((item) => item.content_type === type && item.role_field === role);
    return found?.ids ?? [];
  }

  /** Returns the objects of every type on which the caller holds a role. */
  onAny(role: string): readonly HeldRole[] {
    return this.roles.filter(({ role_field: field }) => field === role);
  }
}

/** Model of role membership, computed from the rules at each call: slow, short and simple. */
import {
  resource,
  type RoleDeclaration,
  type Row,
} from '../../src/common/resource/define-resource.js';

/** Key such as `team:7`. */
export type ObjectKey = `${string}:${number}`;
type Holder = { user: number } | { team: number };

export class RoleModel {
  /** Objects with their organization. */
  private readonly objects = new Map<ObjectKey, number | null>();
  /** Holders by role, such as `team:7 member_role`. */
  private readonly grants = new Map<string, Set<string>>();

  add(type: string, id: number, organization: number | null): void {
    this.objects.set(`${type}:${id}`, organization);
  }

  parentOf(type: string, id: number): number | null {
    return this.objects.get(`${type}:${id}`) ?? null;
  }

  move(type: string, id: number, organization: number): void {
    this.objects.set(`${type}:${id}`, organization);
  }

  /** Removes an object, the teams of a deleted organization, and all their roles. */
  remove(type: string, id: number): [type: string, id: number][] {
    const removed: ObjectKey[] = [`${type}:${id}`];
    for (const [object, organization] of this.objects) {
      if (type !== 'organization' || organization !== id) continue;
      // Projects outlive their organization (docs/contract/resources.md#organizations).
      if (object.startsWith('project:')) this.objects.set(object, null);
      else removed.push(object);
    }
    for (const object of removed) {
      this.objects.delete(object);
      for (const role of this.grants.keys()) {
        if (role.startsWith(`${object} `)) this.grants.delete(role);
      }
      for (const holders of this.grants.values()) holders.delete(object);
    }
    return removed.map((object) => [object.split(':')[0]!, Number(object.split(':')[1])]);
  }

  grant(object: ObjectKey, field: string, holder: Holder): void {
    const role = `${object} ${field}`;
    this.grants.set(role, (this.grants.get(role) ?? new Set()).add(nameOf(holder)));
  }

  revoke(object: ObjectKey, field: string, holder: Holder): void {
    this.grants.get(`${object} ${field}`)?.delete(nameOf(holder));
  }

  /** Returns true if a team may be granted a role: no participation in organizations, no cycle. */
  mayGrant(object: ObjectKey, field: string, team: number): boolean {
    const isParticipation = field === 'admin_role' || field === 'member_role';
    if (object.startsWith('organization:') && isParticipation) return false;
    return !this.implied(`${object} ${field}`).has(`team:${team} member_role`);
  }

  /** Returns `<user> <object> <role>` for all roles of the users, sorted. */
  rolesHeld(users: readonly Row[]): string[] {
    const all = new Set<string>();
    for (const { id } of users) {
      for (const [role, holders] of this.grants) {
        if (!holders.has(`user:${id}`)) continue;
        for (const implied of this.implied(role)) all.add(`${id} ${implied}`);
      }
    }
    return [...all].sort();
  }

  /** Returns a role and all roles that it implies for its holders. */
  private implied(role: string): Set<string> {
    const found = new Set([role]);
    for (const name of found) {
      const [object = '', field = ''] = name.split(' ');
      for (const next of this.declared(object as ObjectKey, field)) found.add(next);
      if (field !== 'member_role' || !object.startsWith('team:')) continue;
      for (const [granted, holders] of this.grants) if (holders.has(object)) found.add(granted);
    }
    return found;
  }

  /**
   * Returns the roles that the declarations derive from one role, of the object and of the objects
   * below it.
   */
  private declared(object: ObjectKey, field: string): string[] {
    const [type = '', id] = object.split(':');
    const rolesOf = (key: string): readonly RoleDeclaration[] => resource(key.split(':')[0]!).roles;
    const roles = rolesOf(object)
      .filter(({ impliedBy = [] }) => impliedBy.includes(field))
      .map((role) => `${object} ${role.field}`);
    if (type !== 'organization') return roles;
    const below = [...this.objects].filter(([, organization]) => organization === Number(id));
    return below.reduce((all, [child]) => {
      const derived = rolesOf(child).filter((role) =>
        role.impliedByParent?.organization?.includes(field),
      );
      return [...all, ...derived.map((role) => `${child} ${role.field}`)];
    }, roles);
  }
}

const nameOf = (holder: Holder): string =>
  'user' in holder ? `user:${holder.user}` : `team:${holder.team}`;

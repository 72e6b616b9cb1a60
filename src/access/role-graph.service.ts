import { Injectable } from '@nestjs/common';
import { ident, sql, TRUE, type Sql } from '../database/sql.js';
import { RoleStore, type Actor } from '../common/access.js';
import { columnOf, targetOf } from '../common/fields/field.js';
import {
  parentPaths,
  resources,
  stepsOf,
  type ResourceDefinition,
  type Row,
} from '../common/resource/define-resource.js';
import {
  heldObjects,
  heldObjectsOfAllTypes,
  RoleAncestorsRepository,
} from './role-ancestors.repository.js';
import type { HeldRoles } from '../common/held-roles.js';
import { isRoleField } from '../common/resource/role-descriptions.js';
import { RoleMembersRepository } from './role-members.repository.js';
import { RoleParentsRepository, type RoleEdge } from './role-parents.repository.js';
import { selectObjectRoles, rolesOf, RolesRepository } from './roles.repository.js';

/**
 * Manages roles, the implications between them, and the closure. Creating objects takes the lock in
 * shared mode; changing edges takes it exclusively, so that an object created while a team is granted a
 * role of its organization is not missed.
 */
@Injectable()
export class RoleGraph extends RoleStore {
  constructor(
    private readonly roles: RolesRepository,
    private readonly members: RoleMembersRepository,
    private readonly edges: RoleParentsRepository,
    private readonly closure: RoleAncestorsRepository,
  ) {
    super();
  }

  ofObjects(type: string, ids: readonly number[]): Sql {
    return selectObjectRoles(type, ids);
  }

  heldBy({ id }: Actor): Promise<HeldRoles | null> {
    return this.closure.heldBy(id);
  }

  async createRoles(definition: ResourceDefinition, rows: readonly Row[]): Promise<void> {
    if (definition.roles.length === 0 || rows.length === 0) return;
    await this.edges.lockShared();
    const ids = rows.map(({ id }) => id);
    const fields = definition.roles.map(({ field }) => field);
    await this.roles.createFor(definition.type, ids, fields);
    await this.addImplied(definition, rows);
    await this.closure.rebuild(rolesOf(definition.type, ids));
  }

  async grantCreator(definition: ResourceDefinition, row: Row, actor: Actor): Promise<void> {
    const hasAdmin = definition.roles.some(({ field }) => field === 'admin_role');
    if (!hasAdmin || actor.isSuperuser || actor.id === 0) return;
    await this.members.grantAdmin(definition.type, row.id, actor.id);
  }

  async parentChanged(definition: ResourceDefinition, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    await this.edges.lock();
    await this.relink(definition, rows);
    const ids = rows.map(({ id }) => id);
    for (const { child, column } of grandchildrenOf(definition)) {
      // Read under the lock, because another transaction can refer to the object until then.
      await this.relink(child, await this.edges.objectsWith(child, column, ids));
    }
  }

  private async relink(definition: ResourceDefinition, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const roleIds = rolesOf(
      definition.type,
      rows.map(({ id }) => id),
    );
    await this.edges.removeImplied(roleIds);
    await this.addImplied(definition, rows);
    await this.closure.rebuildBelow(roleIds);
  }

  roleLevel(definition: ResourceDefinition, alias: string, role: string, actor: Actor): Sql | null {
    if (definition.type === 'role') return this.roleLevelOfRoles(alias, role, actor);
    if (!definition.roles.some(({ field }) => field === role)) return null;
    if (actor.isSuperuser) return TRUE;
    return sql`${ident(alias, 'id')} IN (${heldObjects(definition.type, role, actor)})`;
  }

  /** Returns the condition for the roles of objects on which the caller holds `role`; null for an unknown role. */
  private roleLevelOfRoles(alias: string, role: string, actor: Actor): Sql | null {
    if (!isRoleField(role)) return null;
    if (actor.isSuperuser) return TRUE;
    return sql`(${ident(alias, 'content_type')}, ${ident(alias, 'object_id')}) IN (
      ${heldObjectsOfAllTypes(actor, role)})`;
  }

  /**
   * Adds the edge of a grant to a team: holders of `parent` also hold `child`.
   *
   * @returns `cycle` if the edge would close a cycle and was not added
   */
  async addEdge(parent: number, child: number): Promise<'added' | 'cycle'> {
    await this.edges.lock();
    if (await this.closure.existsBy({ role_id: parent, ancestor_id: child })) return 'cycle';
    await this.edges.addEdge(parent, child);
    await this.closure.connect(parent, child);
    return 'added';
  }

  async removeEdge(parent: number, child: number): Promise<void> {
    await this.edges.lock();
    await this.edges.delete({ child_id: child, parent_id: parent, via: 'team' });
    await this.closure.rebuildBelow(sql`SELECT ${child}::int`);
  }

  /** Adds the edges that the declarations imply for the roles of objects. */
  private async addImplied(definition: ResourceDefinition, rows: readonly Row[]): Promise<void> {
    const edges: RoleEdge[] = [];
    for (const { field, impliedBy = [], impliedByParent = {} } of definition.roles) {
      for (const row of rows) {
        const child = { object: row.id, field };
        for (const other of impliedBy) {
          edges.push({ child, parent: { type: definition.type, object: row.id, field: other } });
        }
      }
      for (const [path, fields] of Object.entries(impliedByParent)) {
        for (const { child, type, object } of await this.parentsOf(definition, path, rows)) {
          for (const other of fields) {
            edges.push({ child: { object: child, field }, parent: { type, object, field: other } });
          }
        }
      }
    }
    if (edges.length > 0) await this.edges.addImplied(definition.type, edges);
  }

  /** Returns the parents of objects, which a path names (`RoleDeclaration.impliedByParent`). */
  private async parentsOf(
    definition: ResourceDefinition,
    path: string,
    rows: readonly Row[],
  ): Promise<Parent[]> {
    const { reference, next } = stepsOf(definition, path);
    const target = targetOf(reference);
    const parents = rows.flatMap((row): Parent[] => {
      const object = row[columnOf(reference)];
      return typeof object === 'number' ? [{ child: row.id, type: target.type, object }] : [];
    });
    if (next === undefined || parents.length === 0) return parents;
    const ids = [...new Set(parents.map(({ object }) => object))];
    const found = await this.edges.objectsWith(target, 'id', ids);
    const above = new Map(
      (await this.parentsOf(target, next, found)).map((parent) => [parent.child, parent]),
    );
    return parents.flatMap(({ child, object }) => {
      const parent = above.get(object);
      return parent ? [{ ...parent, child }] : [];
    });
  }
}

/** Parent of an object, or the parent of its parent. */
interface Parent {
  /** Id of the object. */
  child: number;
  type: string;
  /** Id of the parent. */
  object: number;
}

/** Returns the resources whose roles depend on the parents of a referenced object, with the column of the reference. */
function grandchildrenOf(
  definition: ResourceDefinition,
): { child: ResourceDefinition; column: string }[] {
  return resources().flatMap((child) =>
    parentPaths(child).flatMap((path) => {
      const { reference, next } = stepsOf(child, path);
      if (next === undefined || targetOf(reference) !== definition) return [];
      return [{ child, column: columnOf(reference) }];
    }),
  );
}

import type { TableColumn, TableDefinition, TableIndex } from '../../database/table.js';
import type { Field } from '../fields/field.js';
import { existing } from '../invariants.js';
import type { Relation, ResourceDefinition } from './define-resource.js';
import { idType, linkIdType } from './ids.js';

/** Returns the tables that the declarations of resources require: their own tables and link tables. */
export function resourceTables(definitions: readonly ResourceDefinition[]): TableDefinition[] {
  const tables = new Map<string, { columns: Record<string, TableColumn>; indexes: TableIndex[] }>();
  for (const definition of definitions.filter(({ stored }) => stored)) {
    const shared = definitions.filter(({ table }) => table === definition.table);
    const table = tables.get(definition.table) ?? { columns: {}, indexes: [] };
    tables.set(definition.table, table);
    if (shared.some(({ discriminator }) => discriminator !== null)) {
      table.columns.type = { type: 'text' };
    }
    for (const field of definition.fields) {
      if (field.column === null || field.column in table.columns) continue;
      const everywhere = shared.every((one) =>
        one.fields.some(({ column }) => column === field.column),
      );
      const isKey = shared.some(({ primaryKey }) => primaryKey.includes(field.name));
      table.columns[field.column] = {
        ...columnOf(field, everywhere),
        ...(isKey && { primary: true }),
      };
      const index = referenceIndex(definition.table, field);
      if (index && !table.indexes.some(({ name }) => name === index.name)) {
        table.indexes.push(index);
      }
    }
    for (const { name, columns, where } of definition.unique) {
      if (!table.indexes.some((index) => index.name === name)) {
        table.indexes.push({ name, columns, unique: true, ...(where ? { where } : {}) });
      }
    }
    for (const index of definition.indexes) table.indexes.push(index);
    const order = orderIndex(definition);
    if (order && !table.indexes.some(({ name }) => name === order.name)) table.indexes.push(order);
  }
  const links = new Map<string, TableDefinition>();
  for (const definition of definitions) {
    for (const relation of Object.values(definition.relations)) {
      if (relation.kind === 'many-to-many' && !tables.has(relation.table)) {
        links.set(relation.table, linkTable(definition, relation));
      }
    }
  }
  return [...[...tables].map(([name, table]) => ({ name, ...table })), ...links.values()];
}

function columnOf(field: Field, everywhere: boolean): TableColumn {
  if (field.name === 'id') return { type: field.columnType, identity: true };
  const fallback = field.columnDefault ?? sqlDefault(field);
  return {
    type: field.columnType,
    // In a shared table, a column that only some types have is null for the others.
    nullable: field.nullable || !everywhere,
    ...(fallback !== null ? { default: fallback } : {}),
    ...(field.target
      ? { references: { table: field.target().table, onDelete: field.onDelete } }
      : {}),
  };
}

function sqlDefault(field: Field): string | null {
  if (field.nullable || field.default === undefined || field.default === null) return null;
  if (typeof field.default === 'boolean' || typeof field.default === 'number') {
    return String(field.default);
  }
  const text = typeof field.default === 'string' ? field.default : JSON.stringify(field.default);
  return `'${text.replaceAll("'", "''")}'`;
}

/** Returns the index for the default order, so that no list sorts its whole table. */
function orderIndex(definition: ResourceDefinition): TableIndex | null {
  const columns = definition.orderBy.flatMap((name) => definition.field(name)?.column ?? []);
  if (columns.length < definition.orderBy.length || columns[0] === 'id') return null;
  const isKey = definition.unique.some((rule) => rule.columns.join() === columns.join());
  if (isKey) return null;
  const own = definition.discriminator === null ? [] : ['type'];
  const names = [...new Set([...own, ...columns, 'id'])];
  return { name: `${definition.table}_${columns.join('_')}_order_idx`, columns: names };
}

function referenceIndex(table: string, field: Field): TableIndex | null {
  if (!field.target || !field.index) return null;
  const column = existing(field.column, 'a reference has a column');
  const where = field.index === 'where set' ? { where: `(${column} IS NOT NULL)` } : {};
  return { name: `${table}_${column}_idx`, columns: [column], ...where };
}

function linkTable(
  definition: ResourceDefinition,
  relation: Extract<Relation, { kind: 'many-to-many' }>,
): TableDefinition {
  const fixed = Object.keys(relation.fixed ?? {});
  const target = relation.target();
  const reference = (to: ResourceDefinition): TableColumn => ({
    type: idType(to),
    references: { table: to.table, onDelete: 'CASCADE' },
  });
  return {
    name: relation.table,
    columns: {
      id: { type: linkIdType(definition, relation), primary: true, identity: true },
      [relation.near]: reference(definition),
      [relation.far]: reference(target),
      ...Object.fromEntries(fixed.map((column) => [column, { type: 'text' }])),
    },
    indexes: [
      {
        name: `${relation.table}_key`,
        columns: [relation.near, relation.far, ...fixed],
        unique: true,
      },
      { name: `${relation.table}_${relation.far}_idx`, columns: [relation.far] },
    ],
  };
}

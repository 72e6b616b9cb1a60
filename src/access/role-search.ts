import type { Expression } from '../common/resource/expression.js';
import { resource, type Relation } from '../common/resource/define-resource.js';
import { roleFieldsByName } from '../common/resource/role-descriptions.js';
import { searchTerms } from '../common/list/query.js';
import { and, FALSE, ident, or, type Sql } from '../database/sql.js';
import { isRoleOf, objectOfRole } from './roles.repository.js';

/** Types of objects that have roles, with their collections. */
export const ROLE_OBJECTS = {
  organization: 'organizations',
  team: 'teams',
  project: 'projects',
  credential: 'credentials',
  inventory: 'inventories',
  job_template: 'job_templates',
  workflow_job_template: 'workflow_job_templates',
  instance_group: 'instance_groups',
} as const;

const TYPES = Object.keys(ROLE_OBJECTS);

/** Relations from a role to its object, by type. At most one of them leads to a row. */
export const objectRelations: Readonly<Record<string, Relation>> = Object.fromEntries(
  TYPES.map((type): [string, Relation] => [
    type,
    {
      kind: 'computed',
      target: () => resource(type),
      condition: (role, alias) => objectOfRole(role, type, ident(alias, 'id')),
      back: (object, alias) => isRoleOf(alias, type, object),
      single: true,
    },
  ]),
);

/** Word between a role and its object in the display text: "Execute on Deploy". */
const SEPARATOR_WORD = 'on';

/** Query language that finds roles by their display text: the role's name and the object's name. */
export const roleExpression: Expression = {
  parameter: 'called',
  help: 'Words that the name of the role or of its object contains, such as "Execute on Deploy".',
  searchedNames: [],
  compile: (text, _alias, { condition }) => {
    const isCalled = (word: string): Sql => {
      const fields = roleFieldsByName(word);
      return or(
        fields.length > 0 ? condition('role_field__in', fields.join(',')) : FALSE,
        ...TYPES.map((type) => condition(`${type}__name__icontains`, word)),
      );
    };
    const words = searchTerms(text).filter((word) => word.toLowerCase() !== SEPARATOR_WORD);
    return and(...words.map(isCalled));
  },
};

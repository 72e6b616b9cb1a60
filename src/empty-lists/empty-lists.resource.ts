import { everyone } from '../common/access.js';
import { defineResource, type ResourceDefinition } from '../common/resource/define-resource.js';
import { Bool, Char, Reference, Text } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';

const READ_ONLY = { readOnly: true } as const;
const ORGANIZATION = { ...READ_ONLY, nullable: true } as const;

/** Clients that log users in by OAuth. */
class ApplicationSchema extends NamedEntity {
  @Reference('organization', ORGANIZATION)
  organization!: Reference | null;

  @Char(READ_ONLY)
  client_id!: string;

  @Char(READ_ONLY)
  client_type!: string;

  @Text(READ_ONLY)
  redirect_uris!: string;

  @Char(READ_ONLY)
  authorization_grant_type!: string;

  @Bool(READ_ONLY)
  skip_authorization!: boolean;
}

/** Housekeeping that runs as jobs. */
class SystemJobTemplateSchema extends NamedEntity {
  @Char(READ_ONLY)
  job_type!: string;
}

const emptyList = (
  path: string,
  type: string,
  entity: abstract new (...args: never[]) => object,
): ResourceDefinition =>
  defineResource({
    path,
    type,
    entity,
    capabilities: {},
    policy: { read: everyone },
  });

/**
 * Kinds of objects this product has none of. Clients read their lists all the same, and `import`
 * ends without them (docs/contract/clients.md#starting).
 */
export const applications = emptyList('applications', 'o_auth2_application', ApplicationSchema);
export const systemJobTemplates = emptyList(
  'system_job_templates',
  'system_job_template',
  SystemJobTemplateSchema,
);

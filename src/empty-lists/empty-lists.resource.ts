import { everyone } from '../common/access.js';
import { defineResource } from '../common/resource/define-resource.js';
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

/**
 * Kind of objects this product has none of. Clients read the list all the same, and `import` ends
 * without it (docs/contract/clients.md#starting).
 */
export const applications = defineResource({
  path: 'applications',
  type: 'o_auth2_application',
  entity: ApplicationSchema,
  capabilities: {},
  policy: { read: everyone },
});

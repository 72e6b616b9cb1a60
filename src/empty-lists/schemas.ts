import { Bool, Char, Reference, Text } from '../common/fields/field.js';
import { resource } from '../common/resource/registry.js';
import { NamedEntity } from '../common/resource/resource.entity.js';

const READ_ONLY = { readOnly: true } as const;
const ORGANIZATION = { ...READ_ONLY, nullable: true } as const;

/** Clients that log users in by OAuth. */
export class ApplicationSchema extends NamedEntity {
  @Reference(() => resource('organization'), ORGANIZATION)
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
export class SystemJobTemplateSchema extends NamedEntity {
  @Char(READ_ONLY)
  job_type!: string;
}

import { Injectable } from '@nestjs/common';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { entryOf } from '../common/invariants.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { CredentialInputSourceSchema } from './credential-input-source.schema.js';
import { CredentialsRepository, type SealedCredential } from './credentials.repository.js';
import { checkMetadata } from './types/metadata.js';

type Sent = ValuesOf<CredentialInputSourceSchema>;

/** Which inputs may be looked up, and where (docs/contract/resources.md#credential-input-sources). */
@Injectable()
export class CredentialInputSourceHooks implements ResourceHooks<CredentialInputSourceSchema> {
  constructor(private readonly credentials: CredentialsRepository) {}

  prepareCreate(sent: Sent): Promise<Prepared<CredentialInputSourceSchema>> {
    return this.prepare(sent, sent);
  }

  prepareUpdate(
    row: RowOf<CredentialInputSourceSchema>,
    sent: Sent,
  ): Promise<Prepared<CredentialInputSourceSchema>> {
    const { input_field_name, metadata, target_credential_id, source_credential_id } = row;
    const stored = { input_field_name, metadata };
    const ends = {
      target_credential: target_credential_id,
      source_credential: source_credential_id,
    };
    return this.prepare({ ...stored, ...ends, ...sent }, sent);
  }

  /** @param whole what the row will hold */
  private async prepare(whole: Sent, sent: Sent): Promise<Prepared<CredentialInputSourceSchema>> {
    const { target, source } = await this.ends(whole);
    const errors = {
      ...targetErrors(target, whole.input_field_name ?? ''),
      ...sourceErrors(source),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    const { faults, place } = checkMetadata(source.type, whole.metadata);
    if (Object.keys(faults).length > 0) throw new Invalid({ metadata: faults });
    return 'metadata' in sent ? { values: { metadata: place } } : {};
  }

  private async ends({ target_credential: target, source_credential: source }: Sent) {
    const ids = [target, source].flatMap((id) => id ?? []);
    const found = new Map((await this.credentials.sealed(ids)).map((one) => [one.id, one]));
    return { target: entryOf(found, target), source: entryOf(found, source) };
  }
}

function targetErrors({ type }: SealedCredential, field: string): FieldErrors {
  if (type.kind === 'external') {
    return { target_credential: ['Target must be a non-external credential'] };
  }
  const options = (type.inputs.fields ?? []).map(({ id }) => id).sort();
  return options.includes(field)
    ? {}
    : {
        input_field_name: [
          `Input field must be defined on target credential (options are ${options.join(', ')}).`,
        ],
      };
}

const sourceErrors = ({ type }: SealedCredential): FieldErrors =>
  type.kind === 'external' ? {} : { source_credential: ['Source must be an external credential'] };

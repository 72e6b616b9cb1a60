import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Invalid, type FieldErrors } from '../common/errors/errors.js';
import { entryOf } from '../common/invariants.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { CredentialInputSource } from './credential-input-source.entity.js';
import { CredentialsRepository, type SealedCredential } from './credentials.repository.js';
import { CredentialOwner } from './credential-owner.service.js';
import { sealedInputs } from './sealed-inputs.js';
import { inputField } from './types/definition.js';
import { isDestination } from './types/inputs.js';
import { checkMetadata } from './types/metadata.js';

type Sent = ValuesOf<CredentialInputSource>;

/** Rules of input sources (docs/contract/resources.md#credential-input-sources). */
@Injectable()
export class CredentialInputSourceHooks implements ResourceHooks<CredentialInputSource> {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly owner: CredentialOwner,
  ) {}

  async prepareCreate(sent: Sent, actor: Actor): Promise<Prepared<CredentialInputSource>> {
    const prepared = await this.prepare(sent, sent);
    await this.assertMayRedirect(sent, actor);
    return prepared;
  }

  async prepareUpdate(
    row: RowOf<CredentialInputSource>,
    sent: Sent,
    actor: Actor,
  ): Promise<Prepared<CredentialInputSource>> {
    const current = valuesOf(row);
    const merged = { ...current, ...sent };
    const prepared = await this.prepare(merged, sent);
    if (Object.keys(current).some((name) => name in sent)) {
      await this.assertMayRedirect(current, actor);
      await this.assertMayRedirect(merged, actor);
    }
    return prepared;
  }

  async prepareDelete(row: RowOf<CredentialInputSource>, actor: Actor): Promise<void> {
    await this.assertMayRedirect(valuesOf(row), actor);
  }

  /**
   * Verifies that the caller may change an input that decides where a credential's secrets are
   * sent. The credential must not store other secrets, and the caller needs `use` on the stores of
   * its looked-up secrets (docs/contract/access.md#kept-secrets).
   *
   * @throws Invalid, Forbidden
   */
  private async assertMayRedirect(values: Sent, actor: Actor): Promise<void> {
    const { target } = await this.credentialsOf(values);
    const { input_field_name: id = '' } = values;
    const field = inputField(target.type, id);
    if (actor.isSuperuser || !field || !isDestination(field)) return;
    // Also secrets that another input source hides: they are used again after its deletion.
    const stored = await this.credentials.findOneBy({ id: target.id });
    const [secret] = sealedInputs(stored?.inputs ?? {}).filter((name) => name !== id);
    if (secret !== undefined) {
      const text = `${secret} must be entered again: ${id} decides where it is sent.`;
      throw Invalid.field('input_field_name', text);
    }
    await this.owner.assertMayRedirect(target.id, [id], actor);
  }

  /** @param merged values of the row after the change */
  private async prepare(merged: Sent, sent: Sent): Promise<Prepared<CredentialInputSource>> {
    const { target, source } = await this.credentialsOf(merged);
    const errors = {
      ...targetErrors(target, merged.input_field_name ?? ''),
      ...sourceErrors(source),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
    const { faults, location } = checkMetadata(source.type, merged.metadata);
    if (Object.keys(faults).length > 0) throw new Invalid({ metadata: faults });
    return 'metadata' in sent ? { values: { metadata: location } } : {};
  }

  private async credentialsOf({ target_credential: target, source_credential: source }: Sent) {
    const ids = [target, source].flatMap((id) => id ?? []);
    const rows = await this.credentials.sealed(ids);
    const found = new Map(rows.map((credential) => [credential.id, credential]));
    return { target: entryOf(found, target), source: entryOf(found, source) };
  }
}

const valuesOf = (row: RowOf<CredentialInputSource>) => ({
  input_field_name: row.input_field_name,
  metadata: row.metadata,
  target_credential: row.target_credential_id,
  source_credential: row.source_credential_id,
});

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

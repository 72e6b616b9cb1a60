import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid } from '../common/errors/errors.js';
import { tableOf } from '../common/records.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { CredentialOwner } from './credential-owner.service.js';
import { CredentialTypesRepository } from './credential-types.repository.js';
import { CredentialsRepository } from './credentials.repository.js';
import { maskSealed, openPrevious, sealedInputs, sealInputs } from './sealed-inputs.js';
import type { CredentialInputs } from './types/definition.js';
import { changedDestinations, receivesIdentities, validInputs } from './types/inputs.js';
import type { Credential } from './credential.entity.js';
import { ENCRYPTED } from '../common/fields/text.js';

/**
 * Rules of credentials (docs/contract/resources.md#credentials). Secrets are sealed before a row is
 * written, and never logged.
 */
@Injectable()
export class CredentialHooks implements ResourceHooks<Credential> {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly types: CredentialTypesRepository,
    private readonly box: SecretBox,
    private readonly owner: CredentialOwner,
  ) {}

  async prepareCreate(values: ValuesOf<Credential>): Promise<Prepared<Credential>> {
    const organization = await this.owner.organizationOf(values);
    const type = await this.types.referenced(values.credential_type);
    const inputs = validated(type, values.inputs);
    // Secrets are sealed for their row, so the id is allocated before the row is written.
    const id = await this.credentials.takeId();
    const sealed = JSON.stringify(sealInputs(this.box, id, type, inputs));
    return { columns: { id, organization_id: organization, inputs: sealed } };
  }

  async created(row: RowOf<Credential>, values: ValuesOf<Credential>): Promise<void> {
    await this.owner.grant(row, values);
  }

  async prepareUpdate(
    row: RowOf<Credential>,
    values: ValuesOf<Credential>,
    actor: Actor,
  ): Promise<Prepared<Credential>> {
    this.owner.assertNotManaged(row);
    if ('credential_type' in values) await this.assertUnused(row);
    if (values.organization !== undefined) {
      await this.owner.assertMovable(row, values.organization, actor);
    }
    if (!('inputs' in values) && !('credential_type' in values)) return {};
    const type = await this.types.referenced(values.credential_type ?? row.credential_type_id);
    const stored: CredentialInputs = row.inputs;
    // Masked as in a client's request: a new type whose inputs are not secrets must not reveal them.
    const sent: unknown = values.inputs ?? maskSealed(stored);
    const previous = openPrevious(this.box, row.id, stored, sent);
    const former = await this.types.referenced(row.credential_type_id);
    const change = { mayRedirect: actor.isSuperuser, former };
    const inputs = validated(type, sent, previous, change);
    const changed = changedDestinations([type, former], inputs, previous);
    if (changed.length > 0) await this.owner.assertMayRedirect(row.id, changed, actor);
    if ((changed.length > 0 || 'credential_type' in values) && receivesIdentities(type)) {
      await this.owner.assertNoSource(row.id, actor);
    }
    // Sealing never returns the same text twice, so the inputs are compared in clear text.
    if (!('credential_type' in values) && areEqual(inputs, { ...stored, ...previous })) {
      return { values: { inputs: undefined } };
    }
    return { columns: { inputs: JSON.stringify(sealInputs(this.box, row.id, type, inputs)) } };
  }

  async prepareDelete(row: RowOf<Credential>): Promise<void> {
    this.owner.assertNotManaged(row);
  }

  private async assertUnused({ id }: Row): Promise<void> {
    if (await this.credentials.isUsed(id)) {
      throw Invalid.field(
        'credential_type',
        'You cannot change the credential type of the credential, as it may break the functionality of the resources using it.',
      );
    }
  }
}

/** @throws Invalid naming the invalid inputs */
function validated(...sent: Parameters<typeof validInputs>): CredentialInputs {
  const inputs = validInputs(...sent);
  const forged = sealedInputs(inputs);
  if (forged.length > 0) {
    throw new Invalid({
      inputs: tableOf(forged, (id) => [
        `${ENCRYPTED} texts are reserved, and cannot be used for ${id}.`,
      ]),
    });
  }
  return inputs;
}

function areEqual(left: CredentialInputs, right: CredentialInputs): boolean {
  const ids = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...ids].every((id) => left[id] === right[id]);
}

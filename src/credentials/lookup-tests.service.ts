import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { SecretBox } from '../common/crypto/secret-box.js';
import { Invalid } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { CredentialTypesRepository } from './credential-types.repository.js';
import type { Credential } from './credential.entity.js';
import { LookupError } from './external/lookup-error.js';
import { LookupSession } from './external/lookup-session.js';
import { SecretLookups } from './external/secret-lookups.service.js';
import type { LookupRequest } from './lookup.dto.js';
import { maskSealed, openPrevious } from './sealed-inputs.js';
import type { CredentialInputs, CredentialTypeDefinition } from './types/definition.js';
import { validInputs } from './types/inputs.js';
import { checkMetadata } from './types/metadata.js';

/** Tests whether a secret store returns a value. The caller does not see the value. */
@Injectable()
export class LookupTests {
  constructor(
    private readonly types: CredentialTypesRepository,
    private readonly lookups: SecretLookups,
    private readonly resources: ResourceService,
    private readonly box: SecretBox,
  ) {}

  /**
   * Tests a credential, optionally with changed inputs. A caller who has only `use` cannot send the
   * stored secrets elsewhere: changed inputs require `change`, and a changed address requires the
   * secrets again.
   */
  async ofCredential(
    row: RowOf<Credential>,
    { inputs = {}, metadata = {} }: LookupRequest,
    actor: Actor,
  ): Promise<void> {
    if (Object.keys(inputs).length > 0) {
      await this.resources.assertMay(resource('credential'), row.id, 'change', actor);
    }
    const type = await this.types.referenced(row.credential_type_id);
    const sent = { ...maskSealed(row.inputs), ...inputs };
    const stored = openPrevious(this.box, row.id, row.inputs, sent);
    await this.read(type, { inputs: validInputs(type, sent, stored), metadata });
  }

  /** Tests inputs that no credential stores. */
  async ofType(typeId: number, { inputs = {}, metadata = {} }: LookupRequest): Promise<void> {
    const type = await this.types.referenced(typeId);
    await this.read(type, { inputs: validInputs(type, inputs, {}), metadata });
  }

  private async read(
    type: CredentialTypeDefinition,
    { inputs, metadata }: { inputs: CredentialInputs; metadata: Record<string, unknown> },
  ): Promise<void> {
    if (type.kind !== 'external') {
      throw Invalid.field('inputs', 'Only credentials of secret stores (external) can be tested.');
    }
    const { faults, location } = checkMetadata(type, metadata);
    if (Object.keys(faults).length > 0) throw new Invalid({ metadata: faults });
    const session = new LookupSession();
    const request = { store: { id: 0, type, inputs }, location };
    try {
      const value = itemAt(await this.lookups.fetch([request], session), 0);
      if (value instanceof LookupError) throw Invalid.field('inputs', value.message);
    } finally {
      await session.close();
    }
  }
}

import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { isSameJson } from '../common/exact-json.js';
import { Forbidden, Invalid, messageOf } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, Values, ValuesOf } from '../common/rest/hooks.js';
import { Thread, threadFile } from '../common/thread.js';
import { CredentialsRepository } from './credentials.repository.js';
import type { DefinitionErrors } from './types/definition.js';
import { normalizeInputs, type TypeDraft } from './types/input-schema.js';
import type { CredentialType } from './credential-type.entity.js';

/**
 * Rules of custom credential types (docs/contract/resources.md#credential-types). The API never changes
 * shipped types.
 */
@Injectable()
export class CredentialTypeHooks implements ResourceHooks<CredentialType>, OnModuleDestroy {
  /** Thread that tests the templates of types, whose cost depends on their author. */
  private readonly thread = new Thread<TypeDraft, DefinitionErrors>({
    file: threadFile('type-definition'),
    timeoutMs: 3_000,
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8, stackSizeMb: 2 },
  });

  constructor(private readonly credentials: CredentialsRepository) {}

  onModuleDestroy(): Promise<void> {
    return this.thread.close();
  }

  async prepareCreate(values: ValuesOf<CredentialType>): Promise<Prepared<CredentialType>> {
    await this.assertUsable(values);
    return preparedInputs(values);
  }

  async prepareUpdate(
    row: RowOf<CredentialType>,
    values: ValuesOf<CredentialType>,
  ): Promise<Prepared<CredentialType>> {
    if (row.managed === true) {
      throw new Forbidden('Modifications not allowed for managed credential types');
    }
    await this.assertUsable({ ...row, ...values });
    const prepared = preparedInputs(values);
    const after: Values = { ...values, ...prepared.values };
    const changed = ['inputs', 'kind'].find(
      (name) => name in values && !isSameJson(after[name], row[name]),
    );
    if (changed && (await this.credentials.namesOfType(row.id)) !== null) {
      throw new Forbidden(
        `Modifications to ${changed} are not allowed for credential types that are in use`,
      );
    }
    return prepared;
  }

  async prepareDelete(row: RowOf<CredentialType>): Promise<void> {
    if (row.managed === true) {
      throw new Forbidden('Deletion not allowed for managed credential types');
    }
    // The check stays valid: the request holds a lock on the row, which a new credential must take too.
    const users = await this.credentials.namesOfType(row.id);
    if (users !== null) {
      throw new Forbidden(`Credential types that are in use cannot be deleted: ${users}.`);
    }
  }

  /** @throws Invalid for an unusable definition */
  private async assertUsable({ kind, inputs, injectors }: ValuesOf<CredentialType>): Promise<void> {
    const errors = await this.thread
      .run({ kind, inputs, injectors })
      .catch((error: unknown): DefinitionErrors => ({
        injectors: [`The templates cannot be tested: ${messageOf(error)}.`],
      }));
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }
}

/** Returns the inputs of the request with defaults. */
const preparedInputs = ({ inputs }: ValuesOf<CredentialType>): Prepared<CredentialType> =>
  inputs === undefined ? {} : { values: { inputs: normalizeInputs(inputs) } };

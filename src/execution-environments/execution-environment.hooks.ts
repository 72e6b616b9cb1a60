import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { Conflict, Forbidden, Invalid, type FieldErrors } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import type { ExecutionEnvironment } from './execution-environment.entity.js';
import { isImageReference } from './image-reference.js';

type Sent = ValuesOf<ExecutionEnvironment>;

/** Hooks of execution environments (docs/contract/resources.md#execution-environments). */
@Injectable()
export class ExecutionEnvironmentHooks implements ResourceHooks<ExecutionEnvironment> {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly runtime: RuntimeSettings,
  ) {}

  async prepareCreate(sent: Sent): Promise<void> {
    await this.check(sent);
  }

  async prepareUpdate(_row: RowOf<ExecutionEnvironment>, sent: Sent, actor: Actor): Promise<void> {
    const errors: FieldErrors = {};
    if ('organization' in sent) {
      // Superusers can make an execution environment available to all organizations.
      if (sent.organization !== null) {
        errors.organization = ['Cannot change the organization of an execution environment'];
      } else if (!actor.isSuperuser) throw new Forbidden();
    }
    await this.check(sent, errors);
  }

  prepareDelete(row: RowOf<ExecutionEnvironment>): Promise<void> {
    return this.assertNoDefault([row]);
  }

  /** @throws Conflict if a setting names one of the execution environments, which are being deleted */
  async assertNoDefault(rows: readonly RowOf<ExecutionEnvironment>[]): Promise<void> {
    const settings = await this.runtime.get('DEFAULT_EXECUTION_ENVIRONMENT');
    const named = rows.find(({ id }) => id === settings.DEFAULT_EXECUTION_ENVIRONMENT);
    if (!named) return;
    throw new Conflict(
      `The setting DEFAULT_EXECUTION_ENVIRONMENT names the execution environment ${named.name}.`,
    );
  }

  private async check({ image, credential }: Sent, errors: FieldErrors = {}): Promise<void> {
    if (image !== undefined && !isImageReference(image)) {
      errors.image = ['Not an image reference: [domain[:port]/]path[:tag][@sha256:…].'];
    }
    if (typeof credential === 'number') {
      const type = await this.credentials.typeOf(credential);
      if (type?.kind !== 'registry') {
        errors.credential = [
          'Only Container Registry credentials can be associated with an Execution Environment',
        ];
      }
    }
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }
}

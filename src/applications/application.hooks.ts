import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { randomAlphanumeric } from '../common/crypto/random-key.js';
import { Forbidden, Invalid } from '../common/errors/errors.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { Prepared, ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import type { Application } from './application.entity.js';
import { redirectUrisOf } from './redirect-uris.js';

const CLIENT_ID_LENGTH = 40;
/** Fields that decide who receives the codes of users. */
const RECIPIENT_FIELDS = ['redirect_uris', 'client_type', 'organization'] as const;

/** Validates redirect URIs, and keeps the secret of confidential clients only. */
@Injectable()
export class ApplicationHooks implements ResourceHooks<Application> {
  async prepareCreate(values: ValuesOf<Application>, actor: Actor): Promise<Prepared<Application>> {
    assertApplication(values, actor);
    const columns = { client_id: randomAlphanumeric(CLIENT_ID_LENGTH) };
    return values.client_type === 'public'
      ? { columns: { ...columns, secret_digest: '' } }
      : { columns };
  }

  async prepareUpdate(
    row: RowOf<Application>,
    values: ValuesOf<Application>,
    actor: Actor,
  ): Promise<Prepared<Application>> {
    // A public client has no secret, which a confidential client must present.
    if (values.client_type === 'confidential') {
      throw Invalid.field('client_type', 'A public application cannot become confidential.');
    }
    const stored = {
      redirect_uris: row.redirect_uris,
      authorization_grant_type: row.authorization_grant_type,
    };
    assertApplication({ ...stored, ...values }, actor);
    const { skip_authorization: skips = row.skip_authorization } = values;
    if (skips && !actor.isSuperuser) assertSameRecipient(values);
    return values.client_type === 'public' ? { columns: { secret_digest: '' } } : {};
  }
}

/** @throws Invalid, Forbidden */
function assertApplication(values: ValuesOf<Application>, actor: Actor): void {
  const { redirect_uris: text = '', authorization_grant_type: grant } = values;
  const { fault, uris } = redirectUrisOf(text);
  if (fault !== null) throw Invalid.field('redirect_uris', fault);
  if (grant === 'authorization-code' && uris.length === 0) {
    throw Invalid.field(
      '__all__',
      'redirect_uris cannot be empty with grant_type authorization-code',
    );
  }
  if (values.skip_authorization === true && !actor.isSuperuser) {
    throw new Forbidden('Only superusers can let an application skip the consent of users.');
  }
}

/** @throws Forbidden if the codes of users who are not asked would reach another recipient */
function assertSameRecipient(changes: ValuesOf<Application>): void {
  const name = RECIPIENT_FIELDS.find((field) => field in changes);
  if (name === undefined) return;
  throw new Forbidden(
    `Only superusers can change ${name} of an application that skips the consent of users.`,
  );
}

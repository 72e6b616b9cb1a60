import { Injectable } from '@nestjs/common';
import { fieldsOf, type Field } from '../../common/fields/field.js';
import { isRecord } from '../../common/records.js';
import { OidcConfiguration } from '../../identity/authenticator.entity.js';
import { PageFormOf, type PageForm } from '../shared/page-forms.service.js';
import type { Item } from '../shared/values.js';

const DOCUMENT = 'configuration';

/** Form that asks for the keys of the configuration instead of JSON. */
@Injectable()
@PageFormOf('authenticator')
export class AuthenticatorForm implements PageForm {
  fields(fields: readonly Field[]): readonly Field[] {
    return fields.flatMap((field) =>
      field.name === DOCUMENT
        ? fieldsOf(OidcConfiguration).map((key) => ({ ...key, name: `${DOCUMENT}.${key.name}` }))
        : [field],
    );
  }

  fromObject({ [DOCUMENT]: configuration }: Item): Record<string, unknown> {
    if (!isRecord(configuration)) return {};
    return Object.fromEntries(
      Object.entries(configuration).map(([key, value]) => [`${DOCUMENT}.${key}`, value]),
    );
  }
}

import { Injectable } from '@nestjs/common';
import { fieldsOf, type Field } from '../../common/fields/field.js';
import { authenticatorKind } from '../../identity/authenticator-kinds.js';
import { documentValues } from '../shared/form-values.js';
import { PageFormOf, type FormState, type PageForm } from '../shared/page-forms.service.js';
import type { Item } from '../shared/value-views.js';

const DOCUMENT = 'configuration';

/** Form that asks for the kind, then for the keys of its configuration instead of JSON. */
@Injectable()
@PageFormOf('authenticator')
export class AuthenticatorForm implements PageForm {
  readonly choice = 'kind';

  fields(fields: readonly Field[], { chosen }: FormState): readonly Field[] {
    return fields.flatMap((field) => {
      if (field.name === this.choice) return [];
      return field.name === DOCUMENT
        ? fieldsOf(authenticatorKind(chosen).schema).map((key) => ({
            ...key,
            name: `${DOCUMENT}.${key.name}`,
          }))
        : [field];
    });
  }

  fromObject({ [DOCUMENT]: configuration }: Item): Record<string, unknown> {
    return documentValues(DOCUMENT, configuration);
  }
}

import { declareFields, Json, type Field } from '../common/fields/field.js';
import { LAUNCH_OPTIONS } from './launch-options.js';
import { optional } from './prompt-columns.js';

/**
 * Body of a launch (docs/contract/launching.md#launch). A field counts where the template asks for
 * it; `null` means "not sent": clients fill absent options with it.
 */
export const LAUNCH_FIELDS: readonly Field[] = [
  ...LAUNCH_OPTIONS.map(({ field }) => ({
    ...optional(field),
    column: null,
    filter: false,
    needs: null,
  })),
  ...declareFields([
    [
      'credential_passwords',
      Json({
        nullable: true,
        column: null,
        filter: false,
        writeOnly: true,
        help: 'Answers to passwords_needed_to_start, by name.',
      }),
    ],
  ]),
];

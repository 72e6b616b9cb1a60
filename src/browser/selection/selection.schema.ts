import { Char, Choices, Text } from '../../common/fields/field.js';

/** The form of the confirmation page. */
export class SelectionRequest {
  @Choices(
    [
      ['cancel', 'Cancel'],
      ['delete', 'Delete'],
    ],
    { required: true, help: 'Action on the objects.' },
  )
  action!: 'cancel' | 'delete';

  @Text({ required: true, help: 'Types and ids of objects, such as `job.7,job.8`.' })
  at!: string;

  @Char({ max: 2000, help: 'Path of the list.' })
  back!: string;
}

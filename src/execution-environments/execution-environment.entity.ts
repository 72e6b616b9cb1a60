import { Entity, Index } from 'typeorm';
import { Bool, Char, Choices, Reference } from '../common/fields/field.js';
import { NamedEntity } from '../common/resource/resource.entity.js';

const PULLS = [
  ['', 'Use the default of the container engine.'],
  ['always', 'Always pull container before running.'],
  ['missing', 'Only pull the image if not present before running.'],
  ['never', 'Never pull container before running.'],
] as const;

/** A container image that runs are executed in. */
@Entity('execution_environments')
@Index('execution_environments_name_key', ['name'], { unique: true })
export class ExecutionEnvironment extends NamedEntity {
  @Reference('organization', {
    nullable: true,
    onDelete: 'CASCADE',
    needs: 'execution_environment_admin',
    help: 'Owning organization. Only superusers can create a global execution environment.',
  })
  organization!: Reference | null;

  @Char({ required: true, max: 1024, help: 'Image: [domain[:port]/]path[:tag][@sha256:…].' })
  image!: string;

  @Bool({ readOnly: true, help: 'Shipped with the product; always false.' })
  managed!: boolean;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    help: 'Container Registry credential that the image is pulled with.',
  })
  credential!: Reference | null;

  @Choices(PULLS, { help: 'When the image is pulled.' })
  pull!: string;
}

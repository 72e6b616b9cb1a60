import { Integer } from '../common/fields/field.js';

const OWN = { nullable: true, min: 1, filter: false } as const;

/** Fields of objects with a retention of their own (docs/contract/system-jobs.md#own-retention). */
export class RetentionFields {
  @Integer({ ...OWN, max: 36_500, help: 'Days finished runs are kept; null inherits.' })
  retention_days!: number | null;

  @Integer({
    ...OWN,
    max: 100_000,
    help: 'Newest runs of a template that are kept; null inherits.',
  })
  retention_runs!: number | null;
}

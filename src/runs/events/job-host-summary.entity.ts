import { Entity, Index } from 'typeorm';
import { WIDE } from '../../common/fields/column-types.js';
import { Bool, Char, Integer, Reference } from '../../common/fields/field.js';
import { ReadOnly } from '../../common/fields/read-only.decorator.js';
import { WideResourceEntity } from '../../common/resource/resource.entity.js';

/** Task counts of one host in a run, from the run's final statistics. */
@ReadOnly()
@Entity('job_host_summaries')
@Index('job_host_summaries_constructed_host_id_idx', ['constructed_host_id'], {
  where: '(constructed_host_id IS NOT NULL)',
})
@Index('job_host_summaries_job_host_key', ['job_id', 'host_name'], { unique: true })
export class JobHostSummary extends WideResourceEntity {
  @Reference('job', { ...WIDE, index: false, help: 'Job of the results.' })
  job!: Reference;

  @Reference('host', { nullable: true, help: 'Host; null if it was deleted.' })
  host!: Reference | null;

  /**
   * For a job on a constructed inventory, the host in that inventory; `host` is then the original
   * host.
   */
  @Reference('host', {
    nullable: true,
    index: false,
    help: 'Host of the constructed inventory that the job ran on.',
  })
  constructed_host!: Reference | null;

  @Char({ max: 1024, search: true, help: 'Name of the host.' })
  host_name!: string;

  @Integer({ default: 0, help: 'Number of tasks that changed the host.' })
  changed!: number;

  @Integer({ default: 0, help: 'Number of times the host was unreachable.' })
  dark!: number;

  @Integer({ default: 0, help: 'Number of failed tasks.' })
  failures!: number;

  @Integer({ default: 0, help: 'Number of tasks that succeeded.' })
  ok!: number;

  @Integer({ default: 0, help: 'Number of plays that the host took part in.' })
  processed!: number;

  @Integer({ default: 0, help: 'Number of skipped tasks.' })
  skipped!: number;

  @Integer({ default: 0, help: 'Number of failed tasks whose failure was ignored.' })
  ignored!: number;

  @Integer({ default: 0, help: 'Number of failed tasks that were rescued.' })
  rescued!: number;

  @Bool({ help: 'True if the job failed on the host.' })
  failed!: boolean;
}

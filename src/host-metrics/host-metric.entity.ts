import { Entity, Index } from 'typeorm';
import { Bool, Char, DateTime, Integer } from '../common/fields/field.js';
import { describedAs } from '../common/fields/options.js';
import { NOW, ResourceEntity } from '../common/resource/resource.entity.js';

const COUNTER = { readOnly: true, default: 0 } as const;

/** A host on which playbooks ran, identified by name, independent of its inventory. */
@Entity('host_metrics')
@Index('host_metrics_hostname_key', ['hostname'], { unique: true })
export class HostMetric extends ResourceEntity {
  @Char({ readOnly: true, search: true, help: 'Name of the host, in lower case.' })
  hostname!: string;

  @DateTime({ ...NOW, help: 'End of the first job on the host.' })
  first_automation!: string;

  @DateTime({ ...NOW, help: 'End of the last job on the host.' })
  last_automation!: string;

  @DateTime({ readOnly: true, help: 'Time of the last deletion.' })
  last_deleted!: string | null;

  @Integer({ ...COUNTER, help: 'Number of jobs on the host.' })
  automated_counter!: number;

  @Integer({ ...COUNTER, help: 'Number of deletions of the host.' })
  deleted_counter!: number;

  @Bool({ readOnly: true, help: 'True if the host is not counted until its next job.' })
  deleted!: boolean;
}

/** Number of automated hosts in one month. */
@Entity('host_metric_summary_monthly')
@Index('host_metric_summary_monthly_date_key', ['date'], { unique: true })
export class MonthlyHostMetric extends ResourceEntity {
  @Char({
    ...describedAs('date'),
    readOnly: true,
    max: 10,
    help: 'First day of the month, in UTC.',
  })
  date!: string;

  @Integer({ ...COUNTER, help: 'Hosts at the end of the month that were not deleted.' })
  license_consumed!: number;

  @Integer({ ...COUNTER, help: 'Hosts whose first job ended in the month.' })
  hosts_added!: number;

  @Integer({ ...COUNTER, help: 'Hosts that were deleted in the month and had no job since.' })
  hosts_deleted!: number;
}

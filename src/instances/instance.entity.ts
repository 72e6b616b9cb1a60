import { Entity, Index } from 'typeorm';
import { Bool, Char, Choices, DateTime, Float, Integer, Text } from '../common/fields/field.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';
import { sql } from '../database/sql.js';
import { isCheckPending, nodeErrors, nodeState } from './worker-nodes.repository.js';
import { ISOLATIONS } from './isolation.js';

const READ_ONLY = { readOnly: true } as const;
const COMPUTED = { readOnly: true, column: null, filter: false } as const;
const FILTERED = { readOnly: true, column: null } as const;

/**
 * A machine with current or former workers. Its row remains after the last worker has stopped, unless it is
 * ephemeral.
 */
@Entity('instances')
@Index('instances_hostname_key', ['hostname'], { unique: true })
export class Instance extends ResourceEntity {
  @Char({ ...READ_ONLY, search: true, max: 253, help: 'Name of the machine.' })
  hostname!: string;

  @Char({ ...READ_ONLY, help: 'Version of the worker with the latest heartbeat.' })
  version!: string;

  @Float({ ...READ_ONLY, label: 'CPU', default: 0, columnType: 'integer', help: 'Processors.' })
  cpu!: number;

  @Integer({ ...READ_ONLY, default: 0, columnType: 'bigint', help: 'Memory in bytes.' })
  memory!: number;

  @Integer({
    ...READ_ONLY,
    label: 'CPU capacity',
    default: 0,
    help: 'Number of forks that the processors are sufficient for.',
  })
  cpu_capacity!: number;

  @Integer({
    ...READ_ONLY,
    label: 'Memory capacity',
    default: 0,
    help: 'Number of forks that the memory is sufficient for.',
  })
  mem_capacity!: number;

  @Float({
    default: 1,
    help: 'Position between CPU and memory capacity: 0 for the smaller value, 1 for the larger.',
  })
  capacity_adjustment!: number;

  @Text({
    ...READ_ONLY,
    help: 'Version of the container engine for execution environments; empty: no engine.',
  })
  container_engine!: string;

  @Text({ ...READ_ONLY, help: 'Release of ansible-core that runs without an environment use.' })
  ansible_version!: string;

  @Text({ ...READ_ONLY, help: 'Release of ansible-runner that runs without an environment use.' })
  ansible_runner_version!: string;

  @DateTime({ ...READ_ONLY, help: 'Time of the last request for a health check.' })
  health_check_started!: string | null;

  @DateTime({ ...READ_ONLY, help: 'Time of the last health check by a worker of the instance.' })
  last_health_check!: string | null;

  @Bool({ ...FILTERED, computed: isCheckPending, help: 'A health check has no result yet.' })
  health_check_pending!: boolean;

  @DateTime({
    ...READ_ONLY,
    nullable: false,
    columnDefault: 'now()',
    help: 'Time of the last heartbeat.',
  })
  last_seen!: string;

  @Choices(ISOLATIONS, {
    ...READ_ONLY,
    help: 'Isolation of its runs from the installation and from each other.',
  })
  isolation!: string;

  @Text({ ...READ_ONLY, help: 'Program and version that isolates runs, or an error.' })
  isolation_detail!: string;

  @Bool({ internal: true, default: false })
  is_ephemeral!: boolean;

  @Bool({ default: true, help: 'Accept new runs. If false, runs of the instance still finish.' })
  enabled!: boolean;

  @Bool({ default: true, help: 'True if policies of instance groups may choose the instance.' })
  managed_by_policy!: boolean;

  @Choices([['execution', 'Execution node']], {
    ...FILTERED,
    computed: () => sql`'execution'::text`,
    help: 'Role of the instance; all instances execute runs.',
  })
  node_type!: string;

  @Choices(
    [
      ['ready', 'Ready'],
      ['unavailable', 'Unavailable'],
    ],
    { ...FILTERED, computed: nodeState, help: 'State of the worker of the instance.' },
  )
  node_state!: string;

  @Text({
    ...FILTERED,
    computed: nodeErrors,
    help: 'Reason why the instance is unavailable, or empty.',
  })
  errors!: string;

  @Integer({ ...COMPUTED, help: 'Capacity in forks; 0 if it accepts no runs.' })
  capacity!: number;

  @Integer({ ...COMPUTED, help: 'Forks of the runs that are assigned to the instance.' })
  consumed_capacity!: number;

  @Float({ ...COMPUTED, help: 'Free part of the capacity, 0 to 100.' })
  percent_capacity_remaining!: number;

  @Integer({ ...COMPUTED, help: 'Number of active runs.' })
  jobs_running!: number;

  @Integer({ ...COMPUTED, help: 'Number of all runs that were ever assigned to the instance.' })
  jobs_total!: number;
}

import { Entity, Index } from 'typeorm';
import { Bool, Char, Float, Integer, Json, Reference, Text } from '../common/fields/field.js';
import * as json from '../common/fields/json-schema.js';
import { ResourceEntity } from '../common/resource/resource.entity.js';
import { LinkRow, LinkTo } from '../database/table.js';

const COMPUTED = { readOnly: true, column: null, filter: false } as const;

/**
 * A group of instances, which execute the runs that prefer the group (docs/contract/runs.md#placement).
 * Every instance belongs to `default`. Container groups are rejected; those of older versions execute no
 * runs.
 */
@Entity('instance_groups')
@Index('instance_groups_name_key', ['name'], { unique: true })
export class InstanceGroup extends ResourceEntity {
  @Char({ required: true, search: true, max: 250, help: 'Name of this object.' })
  name!: string;

  @Integer({ min: 0, default: 0, help: 'Maximum number of concurrent runs; 0 for no limit.' })
  max_concurrent_jobs!: number;

  @Integer({ min: 0, default: 0, help: 'Maximum number of concurrent forks; 0 for no limit.' })
  max_forks!: number;

  @Bool({ control: 'none', help: 'A group of pods: not supported, and refused if true.' })
  is_container_group!: boolean;

  @Reference('credential', {
    nullable: true,
    needs: 'use',
    control: 'none',
    help: 'Kubernetes credential of a group of pods: not supported, and refused.',
  })
  credential!: Reference | null;

  @Integer({ min: 0, max: 100, default: 0, help: 'Minimum percentage of the instances.' })
  policy_instance_percentage!: number;

  @Integer({ min: 0, default: 0, help: 'Minimum number of instances.' })
  policy_instance_minimum!: number;

  @Json({
    default: [],
    schema: json.list(json.STRING),
    help: 'Names of instances that always belong to the group.',
  })
  policy_instance_list!: string[];

  @Text({
    filter: false,
    control: 'none',
    help: 'Changes of the pods of a group, as YAML: not supported, and refused.',
  })
  pod_spec_override!: string;

  @Integer({ ...COMPUTED, help: 'Total capacity of the instances, in forks.' })
  capacity!: number;

  @Integer({ ...COMPUTED, help: 'Forks of the runs that are assigned to the instances.' })
  consumed_capacity!: number;

  @Float({ ...COMPUTED, help: 'Free part of the capacity, 0 to 100.' })
  percent_capacity_remaining!: number;

  @Integer({ ...COMPUTED, help: 'Number of runs that are placed in the group.' })
  jobs_running!: number;

  @Integer({ ...COMPUTED, help: 'Number of runs that were ever placed in the group.' })
  jobs_total!: number;

  @Integer({ ...COMPUTED, help: 'Number of instances; for `default`, number of ready instances.' })
  instances!: number;
}

/** Instance of an instance group, by its policy. */
@Entity('instance_group_instances')
@Index('instance_group_instances_key', ['instance_group_id', 'instance_id'], { unique: true })
export class InstanceGroupInstance extends LinkRow {
  @LinkTo('instance_groups')
  instance_group_id!: number;

  @LinkTo('instances', { index: true })
  instance_id!: number;
}

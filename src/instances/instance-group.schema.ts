import { Bool, Char, Float, Integer, Json, Text } from '../common/fields/field.js';
import { list, STRING } from '../common/fields/json-schema.js';
import { ResourceSchema } from '../common/resource/schemas.js';

const READ_ONLY = { readOnly: true } as const;
const COMPUTED = { readOnly: true, column: null, filter: false } as const;

/** A group of workers. There is one, `default`: whatever worker is alive belongs to it. */
export class InstanceGroupSchema extends ResourceSchema {
  @Char({ required: true, search: true, readOnly: true, max: 250, help: 'Name of this object.' })
  name!: string;

  @Integer({ ...READ_ONLY, default: 0, help: 'Most jobs at once; 0 is what the workers can take.' })
  max_concurrent_jobs!: number;

  @Integer({ ...READ_ONLY, default: 0, help: 'Most forks at once; 0 is no limit.' })
  max_forks!: number;

  @Bool(READ_ONLY)
  is_container_group!: boolean;

  @Integer({ ...READ_ONLY, default: 100 })
  policy_instance_percentage!: number;

  @Integer({ ...READ_ONLY, default: 0 })
  policy_instance_minimum!: number;

  @Json({ ...READ_ONLY, default: [], schema: list(STRING) })
  policy_instance_list!: string[];

  @Text({ ...READ_ONLY, filter: false })
  pod_spec_override!: string;

  @Integer({ ...COMPUTED, help: 'Jobs that all live workers together can run at once.' })
  capacity!: number;

  @Integer({ ...COMPUTED, help: 'Jobs that are given to the workers.' })
  consumed_capacity!: number;

  @Float({ ...COMPUTED, help: 'Free part of the capacity, 0 to 100.' })
  percent_capacity_remaining!: number;

  @Integer(COMPUTED)
  jobs_running!: number;

  @Integer(COMPUTED)
  jobs_total!: number;

  @Integer({ ...COMPUTED, help: 'Live workers.' })
  instances!: number;
}

import { WIDE } from '../../common/fields/column-types.js';
import { Char, Integer, Reference } from '../../common/fields/field.js';
import { resource } from '../../common/resource/registry.js';
import { JobEvent } from './job-event.entity.js';

const INTERNAL = { internal: true } as const;

/** One event of a run without plays: hides the fields that only events of playbooks have. */
export abstract class PlainEvent extends JobEvent {
  @Reference(() => resource('unified_job'), { ...INTERNAL, ...WIDE, index: false })
  override job!: Reference;

  @Integer({ ...INTERNAL, default: 0 })
  override event_level!: number;

  @Char(INTERNAL)
  override parent_uuid!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override playbook!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override play!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override task!: string;

  @Char({ ...INTERNAL, max: 1024 })
  override role!: string;
}

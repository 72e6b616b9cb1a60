import { Column, Entity, ForeignKey, Index } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Machine in an instance group. */
@Entity('instance_group_instances')
@Index('instance_group_instances_key', ['instance_group_id', 'instance_id'], { unique: true })
export class InstanceGroupInstance extends LinkRow {
  @Column('integer')
  @ForeignKey('instance_groups', CASCADE)
  instance_group_id!: number;

  @Column('integer')
  @ForeignKey('instances', CASCADE)
  @Index()
  instance_id!: number;
}

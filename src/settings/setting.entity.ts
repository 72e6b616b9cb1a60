import { Column, Entity, PrimaryColumn } from 'typeorm';
import { now } from '../database/table.js';

/** Setting that was changed at run time; a missing row means the environment's value. */
@Entity('settings')
export class ChangedSetting {
  @PrimaryColumn('text')
  name!: string;

  @Column('json')
  value!: unknown;

  @Column({ type: 'timestamp with time zone', default: now })
  modified!: string;
}

/** Fact about this installation, such as its id. */
@Entity('installation')
export class InstallationFact {
  @PrimaryColumn('text')
  name!: string;

  @Column('text')
  value!: string;
}

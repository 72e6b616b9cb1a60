import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { LinkTo, now } from '../database/table.js';

/** Browser session. The cookie contains a random text; only its digest is stored. */
@Entity('sessions')
export class Session {
  @PrimaryColumn('text')
  digest!: string;

  @LinkTo('users', { index: true })
  user_id!: number;

  /** `users.session_generation` at login. A change of the password ends older sessions. */
  @Column('integer')
  generation!: number;

  /**
   * True if an identity provider logged the user in. The provider is responsible for the second
   * factor.
   */
  @Column({ type: 'boolean', default: false })
  is_external!: boolean;

  @Column({ type: 'timestamp with time zone', default: now })
  created!: string;

  @Column({ type: 'timestamp with time zone', default: now })
  @Index()
  last_seen!: string;
}

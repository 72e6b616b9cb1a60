import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CASCADE, LinkRow } from '../database/table.js';

/** Secret that an authenticator app of a user makes codes of (RFC 6238). */
@Entity('totp_secrets')
export class TotpSecret extends LinkRow {
  @Column('integer')
  @ForeignKey('users', CASCADE)
  @Index('totp_secrets_user_id_key', { unique: true })
  user_id!: number;

  /** Base32, sealed for this row. */
  @Column('text')
  secret!: string;

  /** Time step of the last accepted code. Codes of this step and earlier ones are refused. */
  @Column('integer')
  step!: number;

  /** Wrong codes since the last accepted one. */
  @Column({ type: 'integer', default: 0 })
  failures!: number;

  /** Instant up to which no code is checked. */
  @Column({ type: 'timestamp with time zone', nullable: true })
  locked_until!: string | null;
}

/** Code that replaces a second factor once. Only its digest is stored. */
@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn('text')
  digest!: string;

  @Column('integer')
  @ForeignKey('users', CASCADE)
  @Index()
  user_id!: number;
}

/** Passkey of a user (WebAuthn), of which the authenticator keeps the private key. */
@Entity('passkeys')
export class Passkey extends LinkRow {
  @Column('integer')
  @ForeignKey('users', CASCADE)
  @Index()
  user_id!: number;

  @Column('text')
  name!: string;

  /** Id that the authenticator gave it, in Base64URL. */
  @Column('text')
  @Index('passkeys_credential_id_key', { unique: true })
  credential_id!: string;

  /** COSE key in Base64URL. */
  @Column('text')
  public_key!: string;

  /** Uses that the authenticator counted: an unsigned number of 32 bits. */
  @Column('double precision')
  counter!: number;

  /** Ways to reach the authenticator, which the browser is told again. */
  @Column('jsonb')
  transports!: string[];

  @Column({ type: 'timestamp with time zone', nullable: true })
  last_used!: string | null;
}

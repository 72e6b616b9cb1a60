import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CASCADE, LinkRow, LinkTo } from '../database/table.js';

/** Secret from which a user's authenticator app generates codes (RFC 6238). */
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

  /** Number of wrong codes since the last accepted code. */
  @Column({ type: 'integer', default: 0 })
  failures!: number;

  /** Codes are not checked before this instant. */
  @Column({ type: 'timestamp with time zone', nullable: true })
  locked_until!: string | null;
}

/** Code that replaces the second factor once. Only its digest is stored. */
@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn('text')
  digest!: string;

  @LinkTo('users', { index: true })
  user_id!: number;
}

/** Passkey of a user (WebAuthn). The authenticator keeps the private key. */
@Entity('passkeys')
export class Passkey extends LinkRow {
  @LinkTo('users', { index: true })
  user_id!: number;

  @Column('text')
  name!: string;

  /** Credential id from the authenticator, in Base64URL. */
  @Column('text')
  @Index('passkeys_credential_id_key', { unique: true })
  credential_id!: string;

  /** COSE key in Base64URL. */
  @Column('text')
  public_key!: string;

  /** Signature counter of the authenticator: an unsigned 32-bit number. */
  @Column('double precision')
  counter!: number;

  /** Transports of the authenticator, which are sent to the browser at logins. */
  @Column('jsonb')
  transports!: string[];

  @Column({ type: 'timestamp with time zone', nullable: true })
  last_used!: string | null;
}

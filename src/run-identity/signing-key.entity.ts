import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('signing_keys')
export class SigningKey {
  /** Thumbprint of the public key (RFC 7638): the `kid` of tokens. */
  @PrimaryColumn('text')
  id!: string;

  /** Private key in PEM, sealed. */
  @Column('text')
  private_key!: string;

  @Column('jsonb')
  public_key!: JWK;

  @Column('timestamp with time zone', { default: () => 'now()' })
  created!: string;
}

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Accepted response to a SAML request. Prevents replay of the response. */
@Entity('saml_responses')
export class SamlResponse {
  /** Id of the request. */
  @PrimaryColumn('text')
  request!: string;

  @Column('timestamp with time zone')
  @Index()
  expires!: string;
}
